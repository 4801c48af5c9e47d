/**
 * The threads of codex. Codex chooses their ids, and continues their token
 * counts over resumes and forks. Its own records have both, but may be elsewhere, so Raymond keeps
 * notes.
 */
import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { readRegularFileSync } from '../../files/regular-file.ts';
import { attempt } from '../../model/attempt.ts';
import { usageSchema } from '../../model/step-account.ts';
import { isSessionId, type KeptNotes, keptNotes } from '../steps/kept-notes.ts';
import type { StepSeals } from '../steps/step-seals.ts';
import { readTurnFile } from '../turn/turn-file.ts';
import { readRollout } from './messages.ts';

/** An earlier version counted in another form. */
const totals = z.catch(z.optional(usageSchema), undefined);

/** The facts that another process needs to adopt a turn. */
export const turnSchema = z.object({
  executor: z.literal('codex'),
  process: z.string(),
  model: z.optional(z.string()),
  /** The thread has the prompt. */
  wasHeard: z.optional(z.literal(true)),
  /** The tokens of the thread before the turn. */
  before: z.optional(totals),
});

export type TurnFile = z.infer<typeof turnSchema>;

export const readTurn = (seals: StepSeals, folder: string): TurnFile | undefined =>
  readTurnFile(seals, folder, turnSchema);

export const noteSchema = z.object({
  /** The thread of a session for which Raymond chose another id. */
  thread: z.string(),
  /** Its tokens at the end of its newest turn. */
  totals: z.optional(totals),
});

type ThreadNote = z.infer<typeof noteSchema>;

/** Notes about sessions, by their id in the run or by that of their thread. */
export interface Threads extends KeptNotes<ThreadNote> {
  /** The facts in codex's own record of the thread; empty if it cannot be read. */
  recorded(thread: string): ReturnType<typeof readRollout>;
  /** The name of a thread's rollout, in the folder of codex. */
  find(thread: string): string | undefined;
  /** The content of a rollout, by its name. */
  rollout(name: string): Buffer | undefined;
  /** Throws if it is not the name of a rollout. */
  pathOf(name: string): string;
}

/** The user's folder of codex. */
export const codexHome = (environment: NodeJS.ProcessEnv): string =>
  environment.CODEX_HOME || join(environment.HOME || homedir(), '.codex');

export function threadsIn(
  seals: StepSeals,
  folder: string,
  environment: NodeJS.ProcessEnv,
): Threads {
  const sessions = join(codexHome(environment), 'sessions');
  const pathOf = (name: string) => {
    if (ROLLOUT.test(name)) return join(sessions, name);
    throw new Error(`${JSON.stringify(name)} is not the name of a rollout`);
  };
  const rollout = (name: string) => {
    return attempt(() => readRegularFileSync(pathOf(name), MAX_RECORD_BYTES));
  };
  const find = (thread: string) => findRollout(sessions, thread);
  return {
    ...keptNotes(seals, folder, noteSchema, 'codex-'),
    find,
    rollout,
    pathOf,
    recorded(thread) {
      const name = find(thread);
      const bytes = name === undefined ? undefined : rollout(name);
      return bytes ? readRollout(bytes.toString('utf8')) : {};
    },
  };
}

const MAX_RECORD_BYTES = 256 * 1024 * 1024;
const ROLLOUT = /^\d{4}\/\d\d\/\d\d\/rollout-[\w-]{1,200}\.jsonl$/;

/** Codex keeps a file per thread, in a folder of the day on which the thread began. */
function findRollout(sessions: string, thread: string): string | undefined {
  if (!isSessionId(thread)) return undefined;
  for (const day of daysOf(thread)) {
    const names = attempt(() => readdirSync(join(sessions, day))) ?? [];
    const name = names.find((file) => file.endsWith(`-${thread}.jsonl`));
    if (name !== undefined) return `${day}/${name}`;
  }
  return undefined;
}

/** The first 48 bits of an id are its time. The day depends on the time zone. */
function daysOf(thread: string): readonly string[] {
  const began = Number.parseInt(thread.replaceAll('-', '').slice(0, 12), 16);
  if (Number.isNaN(began)) return [];
  const day = 24 * 60 * 60_000;
  return [began, began - day, began + day].map((time) =>
    new Date(time).toISOString().slice(0, 10).replaceAll('-', '/'),
  );
}
