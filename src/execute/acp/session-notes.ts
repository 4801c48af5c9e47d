/** Notes about sessions, whose ids the agent chooses. */
import * as z from 'zod/mini';
import { usageSchema } from '../../model/step-account.ts';
import { type KeptNotes, keptNotes } from '../kept-notes.ts';
import type { StepSeals } from '../step-seals.ts';

const noteSchema = z.object({
  /** The session as the agent names it. */
  session: z.string(),
  /** Its settings before Raymond named others. */
  own: z.optional(z.object({ model: z.optional(z.string()), effort: z.optional(z.string()) })),
  /** Its cost and its tokens, as the agent counts them. */
  totalUsd: z.optional(z.number()),
  totalUsage: z.optional(usageSchema),
});

export type SessionNote = z.infer<typeof noteSchema>;

/** By the id of the session in the run, and by that of the agent. */
export type SessionNotes = KeptNotes<SessionNote>;

export function sessionNotesIn(seals: StepSeals, folder: string, agent: string): SessionNotes {
  return keptNotes(seals, folder, noteSchema, `${agent}-`);
}
