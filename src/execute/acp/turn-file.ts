/** The facts that another process needs to adopt a turn. They are on disk before the prompt is sent. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { readRegularFileSync } from '../../files/regular-file.ts';
import { usageSchema } from '../../model/step-account.ts';
import { STEP_FILES } from '../../model/step-files.ts';

const text = z.string();
const texts = z.readonly(z.array(text));

const setting = z.optional(
  z.object({
    by: z.union([z.literal(['mode', 'model']), z.object({ option: text })]),
    current: text,
    values: texts,
  }),
);

const turnSchema = z.object({
  /** The name of the agent. */
  acp: text,
  /** The folder of the process that answers; a warm process was started by an earlier step. */
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
      /** The settings of the session before Raymond named others. */
      own: z.object({ model: z.optional(text), effort: z.optional(text) }),
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
  known: z.optional(
    z.object({
      abilities: z.object({
        version: z.number(),
        about: text,
        load: z.boolean(),
        resume: z.boolean(),
        fork: z.boolean(),
        logins: texts,
      }),
      settings: z.object({ model: setting, effort: setting, mode: setting }),
    }),
  ),
});

export type TurnFile = z.infer<typeof turnSchema>;
export type SentPrompt = NonNullable<TurnFile['prompt']>;

export function writeTurn(folder: string, turn: TurnFile): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, STEP_FILES.turn.name);
  writeFileSync(`${file}.new`, `${JSON.stringify(turn)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Undefined if another agent took the turn. Without a name, any agent of the protocol. */
export function readTurn(folder: string, agent?: string): TurnFile | undefined {
  try {
    const bytes = readRegularFileSync(join(folder, STEP_FILES.turn.name), 1024 * 1024);
    const { data } = z.safeParse(turnSchema, JSON.parse(bytes.toString('utf8')));
    return agent === undefined || data?.acp === agent ? data : undefined;
  } catch {
    return undefined;
  }
}
