/** The facts that another process needs to adopt a turn. They are on disk before codex starts. */
import * as z from 'zod/mini';
import type { StepSeals } from '../step-seals.ts';
import { readTurnFile, writeTurnFile } from '../turn-file.ts';

export const turnSchema = z.object({
  executor: z.literal('codex'),
  /** The folder of the process that answers. */
  process: z.string(),
  model: z.optional(z.string()),
  /** The thread has the prompt. */
  wasHeard: z.optional(z.literal(true)),
  /** The tokens of the thread before the turn. */
  before: z.optional(z.object({ input: z.number(), cached: z.number(), output: z.number() })),
});

export type TurnFile = z.infer<typeof turnSchema>;

export function writeTurn(seals: StepSeals, folder: string, turn: TurnFile): void {
  writeTurnFile(seals, folder, turn);
}

/** Undefined if another executor took the turn. */
export function readTurn(seals: StepSeals, folder: string): TurnFile | undefined {
  return readTurnFile(seals, folder, turnSchema);
}
