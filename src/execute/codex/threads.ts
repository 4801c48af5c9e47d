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
import { isSessionId, type KeptNotes, keptNotes } from '../kept-notes.ts';
import { readRollout } from './messages.ts';

const noteSchema = z.object({
  /** The thread of a session for which Raymond chose another id. */
  thread: z.string(),
  /** Its tokens at the end of its newest turn. */
  totals: z.optional(z.object({ input: z.number(), cached: z.number(), output: z.number() })),
});

export type ThreadNote = z.infer<typeof noteSchema>;

/** Notes about sessions, by their id in the run or by that of their thread. */
export interface Threads extends KeptNotes<ThreadNote> {
  /** The facts in codex's own record of the thread; empty if it cannot be read. */
  recorded(thread: string): ReturnType<typeof readRollout>;
}

export function threadsIn(folder: string, environment: NodeJS.ProcessEnv): Threads {
  const home = environment.CODEX_HOME || join(environment.HOME || homedir(), '.codex');
  return {
    ...keptNotes(folder, noteSchema, 'codex-'),
    recorded: (thread) => readRecord(join(home, 'sessions'), thread),
  };
}

const MAX_RECORD_BYTES = 256 * 1024 * 1024;

/** Codex keeps a file per thread, in a folder of the day on which the thread began. */
function readRecord(sessions: string, thread: string): ReturnType<typeof readRollout> {
  if (!isSessionId(thread)) return {};
  try {
    for (const day of daysOf(thread)) {
      const folder = join(sessions, day);
      const name = namesIn(folder).find((file) => file.endsWith(`-${thread}.jsonl`));
      if (name === undefined) continue;
      return readRollout(
        readRegularFileSync(join(folder, name), MAX_RECORD_BYTES).toString('utf8'),
      );
    }
  } catch {
    // A record that cannot be read says nothing.
  }
  return {};
}

/** The first 48 bits of an id are its time. The day depends on the time zone. */
function daysOf(thread: string): readonly string[] {
  const began = Number.parseInt(thread.replaceAll('-', '').slice(0, 12), 16);
  const day = 24 * 60 * 60_000;
  return [began, began - day, began + day].map((time) =>
    new Date(time).toISOString().slice(0, 10).replaceAll('-', '/'),
  );
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
