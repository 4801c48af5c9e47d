/**
 * INV-23: The facts that another process needs to adopt a turn are on disk before the prompt is
 * sent.
 *
 * These facts are the turn's prompt, the place of its answer, and the cost before it.
 */
import { join } from 'node:path';
import * as z from 'zod/mini';
import { STEP_FILES } from '../../model/step-files.ts';
import type { StepSeals } from '../step-seals.ts';
import { readTurnFile, shownTurn, writeTurnFile } from '../turn-file.ts';

export const turnSchema = z.object({
  /** The uuids under which the prompt was sent, the newest last. */
  prompts: z.readonly(z.array(z.string())),
  /** The folder of the process that answers; a warm process was started by an earlier step. */
  process: z.string(),
  /** The offset in the process's output at which this turn's answer begins. */
  offset: z.number(),
  /** The model that was named for the turn. */
  model: z.optional(z.string()),
  /** The last message before the prompt, if the stream has shown it. */
  cutAt: z.optional(z.string()),
  /** The session's total before the turn, from its transcript or from its newest result. */
  transcriptTotalUsd: z.optional(z.number()),
  processTotalUsd: z.optional(z.number()),
});

export type TurnFile = z.infer<typeof turnSchema>;

export function writeTurn(seals: StepSeals, folder: string, turn: TurnFile): void {
  writeTurnFile(seals, folder, turn);
}

export function readTurn(seals: StepSeals, folder: string): TurnFile | undefined {
  return readTurnFile(seals, folder, turnSchema);
}

/** Where the messages of a turn begin; undefined before the turn begins. */
export function begunTurn(folder: string) {
  const turn = shownTurn(folder, turnSchema);
  return turn && { file: join(turn.process, STEP_FILES.stdout.name), from: turn.offset };
}
