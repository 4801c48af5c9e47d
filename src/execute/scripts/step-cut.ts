/**
 * Why Raymond ended a script before it was done. The exit code of a script that was stopped says nothing
 * about the script. So the reason is written before the first signal. If this process ends before it can
 * journal the stop, the next process reads it.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { attempt } from '../../model/attempt.ts';
import { STEP_FILES } from '../../model/step-files.ts';
import { readSealed, type StepSeals, writeSealed } from '../steps/step-seals.ts';

const cutSchema = z.object({ cut: z.enum(['stopped', 'idle']) });
export type Cut = z.infer<typeof cutSchema>['cut'];

const cutFile = (folder: string) => join(folder, STEP_FILES.stopped.name);

export function recordCut(seals: StepSeals, folder: string, cut: Cut): void {
  // A full disk must not prevent the stop.
  attempt(() => writeSealed(seals, cutFile(folder), { cut }));
}

export function recordedCut(seals: StepSeals, folder: string): Cut | undefined {
  const recorded = readSealed(seals, cutFile(folder), cutSchema);
  return recorded === 'foreign' ? undefined : recorded?.cut;
}

/** A script that survived the stop continues as if there had been none. */
export function forgetCut(folder: string): void {
  rmSync(cutFile(folder), { force: true });
}
