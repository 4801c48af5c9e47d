/**
 * Why Raymond ended a script before it was done. The exit code of a script that was stopped says nothing
 * about the script. So the reason is written before the first signal. If this process ends before it can
 * journal the stop, the next process reads it.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRegularFileSync } from '../files/regular-file.ts';
import { STEP_FILES } from '../model/step-files.ts';

export type Cut = 'stopped' | 'idle';

const CUTS: readonly Cut[] = ['stopped', 'idle'];
const MAX_BYTES = 16;

const cutFile = (folder: string) => join(folder, STEP_FILES.stopped.name);

export function recordCut(folder: string, cut: Cut): void {
  try {
    writeFileSync(cutFile(folder), cut, { mode: 0o600 });
  } catch {
    // A full disk must not prevent the stop.
  }
}

export function recordedCut(folder: string): Cut | undefined {
  try {
    const text = readRegularFileSync(cutFile(folder), MAX_BYTES).toString('utf8');
    return CUTS.find((cut) => cut === text);
  } catch {
    return undefined;
  }
}

/** A script that survived the stop continues as if there had been none. */
export function forgetCut(folder: string): void {
  rmSync(cutFile(folder), { force: true });
}
