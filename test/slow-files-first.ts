import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Starts the test files that take longest first. One that starts last keeps a single worker busy, while
 * the others have nothing to do. A clean clone has no durations of an earlier run to sort by.
 *
 * Files that mostly wait come between those that compute, so that the processor has always something to do.
 */
export class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const slowFirst = sorted.toSorted((a, b) => rank(a.moduleId) - rank(b.moduleId));
    const waiting = slowFirst.filter(({ moduleId }) => WAITS.test(moduleId));
    const computing = slowFirst.filter(({ moduleId }) => !WAITS.test(moduleId));
    const mixed = computing.flatMap((file, index) =>
      index % 3 === 0 ? [file, ...waiting.splice(0, 1)] : [file],
    );
    return [...mixed, ...waiting];
  }
}

/** For leases, signals and servers. */
const WAITS = /\/test\/(?:fleet|postgres|processes)\//;

/** The slowest first; parts of paths. Files that match none have little to do. */
const SLOW = [
  '/test/attack/',
  '/test/browser/serve-page-views.',
  '/test/docs/newcomer.',
  '/test/crash/torture',
  '/test/docs/examples.',
  '/test/authoring/init.',
  '/test/browser/',
  '/test/real-agent/',
  '/test/other-agents/',
  '/test/docs/',
  '/test/lint/growth.',
  '/test/crash/',
  '/test/journal/',
  '/test/cli/',
  '/test/',
] as const;

function rank(path: string): number {
  const found = SLOW.findIndex((part) => path.includes(part));
  return found === -1 ? SLOW.length : found;
}
