/** What Raymond keeps on disk about turns and sessions of Claude Code. */
import { join } from 'node:path';
import * as z from 'zod/mini';
import { STEP_FILES } from '../../model/step-files.ts';
import { type KeptNotes, keptNotes } from '../steps/kept-notes.ts';
import type { StepSeals } from '../steps/step-seals.ts';
import { readTurnFile, shownTurn } from '../turn/turn-file.ts';

/** The facts that another process needs: the turn's prompt, the place of its answer, and the cost before it. */
export const turnSchema = z.object({
  /** The uuids under which the prompt was sent, the newest last. */
  prompts: z.readonly(z.array(z.string())),
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

export const readTurn = (seals: StepSeals, folder: string): TurnFile | undefined =>
  readTurnFile(seals, folder, turnSchema);

/** Where the messages of a turn begin; undefined before the turn begins. */
export function begunTurn(folder: string) {
  const turn = shownTurn(folder, turnSchema);
  return turn && { file: join(turn.process, STEP_FILES.stdout.name), from: turn.offset };
}

/**
 * The facts about a session, collected while it was used. Its transcript has most of them, but Raymond
 * may not find it: a wrapper script can choose another configuration folder.
 */
export const noteSchema = z.object({
  /** The model of turns without a named model: the user's own choice. */
  ownModel: z.optional(z.string()),
  /** The model that was named last. If missing, the session still uses `ownModel`. */
  namedModel: z.optional(z.string()),
  /** The total in its newest result. */
  totalUsd: z.optional(z.number()),
  /** The newest message after which its history can be cut off. */
  checkpoint: z.optional(z.string()),
  /** The folder in which Claude Code keeps the transcripts for the session's directory. */
  transcripts: z.optional(z.string()),
});

export type SessionNote = z.infer<typeof noteSchema>;

export type SessionNotes = KeptNotes<SessionNote>;

export const sessionNotesIn = (seals: StepSeals, folder: string): SessionNotes =>
  keptNotes(seals, folder, noteSchema);
