import { createHash } from 'node:crypto';
import { readRegularFileSync } from '../files/regular-file.ts';
import type { ScriptStep } from '../ports.ts';

/**
 * The reason to refuse a script: its file differs from the one that the run has read. Undefined when
 * they are the same. Call it immediately before the launch: a later change goes unnoticed.
 */
export function scriptChange({ file, sha256, run }: ScriptStep): string | undefined {
  if (sha256 === undefined) return undefined;
  const problem = differenceFrom(file, sha256);
  return problem === undefined
    ? undefined
    : `${file} ${problem}, so it was not executed. Check the file, then run: raymond resume ${run} --accept-changes`;
}

/** Larger than any state's file. */
const MAX_BYTES = 64 * 1024 * 1024;

function differenceFrom(file: string, sha256: string): string | undefined {
  try {
    const found = createHash('sha256').update(readRegularFileSync(file, MAX_BYTES)).digest('hex');
    return found === sha256 ? undefined : 'was changed after the run had read it';
  } catch (error) {
    return `can no longer be read (${error instanceof Error ? error.message : String(error)})`;
  }
}
