/**
 * What has to be known of a turn after our own death: which prompt it is, where its answer will
 * stand, and what had been counted before it. On disk before the prompt is sent.
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { readRegularFileSync } from '../../files/regular-file.ts';

const turnSchema = z.object({
  /** The uuids under which the prompt was sent, the newest last. */
  prompts: z.readonly(z.array(z.string())),
  /** The folder of the process that answers; a warm one began with an earlier step. */
  process: z.string(),
  /** Where in its output this turn's answer begins. */
  offset: z.number(),
  /** The model that was named for it. */
  model: z.optional(z.string()),
  /** Where the history ended before the prompt, so far as the stream has told. */
  cutAt: z.optional(z.string()),
  /** The session's total before the turn: its transcript's, or that of its newest result. */
  transcriptTotalUsd: z.optional(z.number()),
  processTotalUsd: z.optional(z.number()),
});

export type TurnFile = z.infer<typeof turnSchema>;

export function writeTurn(folder: string, turn: TurnFile): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, 'turn.json');
  writeFileSync(`${file}.new`, `${JSON.stringify(turn)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

const MAX_TURN_BYTES = 1024 * 1024;

export function readTurn(folder: string): TurnFile | undefined {
  try {
    const text = readRegularFileSync(join(folder, 'turn.json'), MAX_TURN_BYTES).toString('utf8');
    return z.safeParse(turnSchema, JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
