import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Starts the test files that take longest first. One that starts last keeps a single worker busy, while
 * the others have nothing to do. A clean clone has no durations of an earlier run to sort by.
 */
export class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a.moduleId) - rank(b.moduleId));
  }
}

/** The slowest first; parts of paths. Files that match none have little to do. */
const SLOW = [
  '/test/attack/',
  '/test/docs/newcomer.',
  '/test/crash/torture-',
  '/test/docs/examples.',
  '/test/cli/hostile-text.',
  '/test/real-agent/',
  '/test/lint/growth.',
  '/test/crash/',
  '/test/journal/',
  '/test/cli/',
  '/test/processes/',
  '/test/',
] as const;

function rank(path: string): number {
  const found = SLOW.findIndex((part) => path.includes(part));
  return found === -1 ? SLOW.length : found;
}
