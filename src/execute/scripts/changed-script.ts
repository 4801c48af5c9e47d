import { createHash } from 'node:crypto';
import { type Stats, statSync } from 'node:fs';
import { readRegularFileSync } from '../../files/regular-file.ts';
import { messageOf } from '../../model/message-of.ts';
import type { ScriptStep } from '../../ports.ts';

/**
 * Gives the reason to refuse a script: its file differs from the one that the run has read. Undefined
 * when they are the same. Call it immediately before the launch: a later change goes unnoticed.
 */
type ScriptComparison = (step: ScriptStep) => string | undefined;

/** Remembers the files that it has read, so that the same script is not read again for each step. */
export function scriptComparison(now: () => number = Date.now): ScriptComparison {
  const known = new Map<string, KnownFile>();
  const sha256Of = (file: string) => {
    const version = versionOf(statSync(file));
    const before = known.get(file);
    if (before && before.version === version.name) return before.sha256;
    const sha256 = createHash('sha256').update(readRegularFileSync(file, MAX_BYTES)).digest('hex');
    // A file that has just changed can change again without a new time.
    if (now() - version.changedAt > SETTLED_MS) known.set(file, { version: version.name, sha256 });
    else known.delete(file);
    return sha256;
  };
  return ({ file, sha256, run }) => {
    const problem = sha256 === undefined ? undefined : differenceFrom(sha256, () => sha256Of(file));
    return problem === undefined
      ? undefined
      : `${file} ${problem}, so it was not executed. Check the file, then run: raymond resume ${run} --accept-changes`;
  };
}

interface KnownFile {
  readonly version: string;
  readonly sha256: string;
}

/** Larger than any state's file. */
const MAX_BYTES = 64 * 1024 * 1024;

/** No file system has coarser times. */
const SETTLED_MS = 2000;

/** No program can set the time of the last change. */
function versionOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats) {
  return { name: [dev, ino, size, mtimeMs, ctimeMs].join(' '), changedAt: ctimeMs };
}

function differenceFrom(sha256: string, found: () => string): string | undefined {
  try {
    return found() === sha256 ? undefined : 'was changed after the run had read it';
  } catch (error) {
    return `can no longer be read (${messageOf(error)})`;
  }
}
