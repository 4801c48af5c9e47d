/**
 * Notes about each session, collected while it was used. Its transcript has most of these facts, but
 * Raymond may not find it: a wrapper script can choose another configuration folder.
 */
import * as z from 'zod/mini';
import { type KeptNotes, keptNotes } from '../kept-notes.ts';
import type { StepSeals } from '../step-seals.ts';

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
