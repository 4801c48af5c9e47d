/** What Raymond keeps on disk about turns and sessions of an agent. */
import * as z from 'zod/mini';
import { usageSchema } from '../../model/step-account.ts';
import { type KeptNotes, keptNotes } from '../steps/kept-notes.ts';
import type { StepSeals } from '../steps/step-seals.ts';
import { readTurnFile, shownTurn } from '../turn/turn-file.ts';

const text = z.string();
const texts = z.readonly(z.array(text));

/** The abilities that the agent reports at its start. */
const abilitiesSchema = z.object({
  /** The version of the protocol. */
  version: z.number(),
  /** Its name and its own version; empty if it reports none. */
  about: text,
  load: z.boolean(),
  /** It continues a session without sending its messages again. */
  resume: z.boolean(),
  fork: z.boolean(),
  /** How a user logs in, in the words of the agent. */
  logins: texts,
});

export type Abilities = z.infer<typeof abilitiesSchema>;

/** A setting of a session that has a list of values. */
const settingSchema = z.object({
  /** The request that sets it: its own one, or the one for options, with the id of the option. */
  by: z.union([z.literal(['mode', 'model']), z.object({ option: text })]),
  current: text,
  values: texts,
});

export type Setting = z.infer<typeof settingSchema>;

const setting = z.optional(settingSchema);
const settingsSchema = z.object({ model: setting, effort: setting, mode: setting });

export type SessionSettings = z.infer<typeof settingsSchema>;

/** The settings of a session before Raymond named others. */
const ownSchema = z.object({ model: z.optional(text), effort: z.optional(text) });

export type Own = z.infer<typeof ownSchema>;

/** The facts that another process needs to adopt a turn. */
const turnSchema = z.object({
  /** The name of the agent. */
  acp: text,
  process: text,
  /** Absent until the session is open. */
  prompt: z.optional(
    z.object({
      /** The id of the request. */
      id: z.number(),
      /** The session, as the agent names it. */
      session: text,
      /** The offset in the process's output at which the answer begins. */
      offset: z.number(),
      /** The whole request has been written. */
      isSent: z.boolean(),
      model: z.optional(text),
      own: ownSchema,
      /** The cost and the tokens of the session before the turn, as the agent counts them. */
      beforeUsd: z.number(),
      beforeUsage: z.optional(usageSchema),
      /** Whether a later process can continue the session. */
      canLoad: z.boolean(),
      /** The session had no messages before. */
      isFirst: z.optional(z.boolean()),
    }),
  ),
  /** The process and the session as they described themselves, so that they serve the next turn too. */
  known: z.optional(z.object({ abilities: abilitiesSchema, settings: settingsSchema })),
});

export type TurnFile = z.infer<typeof turnSchema>;
export type SentPrompt = NonNullable<TurnFile['prompt']>;

/** Undefined if another agent took the turn. */
export function readTurn(seals: StepSeals, folder: string, agent: string): TurnFile | undefined {
  const turn = readTurnFile(seals, folder, turnSchema);
  return turn?.acp === agent ? turn : undefined;
}

/** For people who look at the step. */
export function turnToShow(folder: string): TurnFile | undefined {
  return shownTurn(folder, turnSchema);
}

/** The ids of sessions are chosen by the agent. */
const noteSchema = z.object({
  /** The session as the agent names it. */
  session: text,
  own: z.optional(ownSchema),
  /** Its cost and its tokens, as the agent counts them. */
  totalUsd: z.optional(z.number()),
  totalUsage: z.optional(usageSchema),
});

export type SessionNote = z.infer<typeof noteSchema>;

/** By the id of the session in the run, and by that of the agent. */
export type SessionNotes = KeptNotes<SessionNote>;

export const sessionNotesIn = (seals: StepSeals, folder: string, agent: string): SessionNotes =>
  keptNotes(seals, folder, noteSchema, `${agent}-`);
