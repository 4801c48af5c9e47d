/** The facts that another process needs to adopt a turn. They are on disk before codex starts. */
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { readRegularFileSync } from '../../files/regular-file.ts';
import { STEP_FILES } from '../../model/step-files.ts';

export const turnSchema = z.object({
  executor: z.literal('codex'),
  /** The folder of the process that answers. */
  process: z.string(),
  model: z.optional(z.string()),
  /** The thread has the prompt; for a turn that happened on another machine. */
  wasHeard: z.optional(z.literal(true)),
  /** The tokens of the thread before the turn. */
  before: z.optional(z.object({ input: z.number(), cached: z.number(), output: z.number() })),
});

export type TurnFile = z.infer<typeof turnSchema>;

export function writeTurn(folder: string, turn: TurnFile): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, STEP_FILES.turn.name);
  writeFileSync(`${file}.new`, `${JSON.stringify(turn)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Undefined if another executor took the turn. */
export function readTurn(folder: string): TurnFile | undefined {
  try {
    const text = readRegularFileSync(join(folder, STEP_FILES.turn.name), 1024 * 1024);
    return z.safeParse(turnSchema, JSON.parse(text.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

/** Whether codex has begun to work on the prompt of a turn. */
export function wasHeard(folder: string): boolean {
  const turn = readTurn(folder);
  return turn?.wasHeard === true || (!!turn && existsSync(join(folder, STEP_FILES.raw.name)));
}
