import { createHash } from 'node:crypto';
import { readRegularFileSync } from '../files/regular-file.ts';
import type { ScriptStep } from '../ports.ts';

/**
 * Why a script is not executed: its file is not what the run has read. Undefined when it is. This has
 * to be asked right before the script is launched: whoever changes the file after that is not noticed.
 */
export function scriptChange({ file, sha256, run }: ScriptStep): string | undefined {
  if (sha256 === undefined) return undefined;
  const problem = differenceFrom(file, sha256);
  return problem === undefined
    ? undefined
    : `${file} ${problem}, so it was not executed. Look at it, then run: raymond resume ${run} --accept-changes`;
}

/** More than any state has. */
const MAX_BYTES = 64 * 1024 * 1024;

function differenceFrom(file: string, sha256: string): string | undefined {
  try {
    const found = createHash('sha256').update(readRegularFileSync(file, MAX_BYTES)).digest('hex');
    return found === sha256 ? undefined : 'was changed after the run had read it';
  } catch (error) {
    return `cannot be read any more (${error instanceof Error ? error.message : String(error)})`;
  }
}
