/**
 * What Raymond knows about the threads of codex. Codex chooses their ids, and continues their token
 * counts over resumes and forks. Its own records have both, but may be elsewhere, so Raymond keeps
 * notes.
 */
import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { readRegularFileSync } from '../../files/regular-file.ts';
import { readRollout } from './messages.ts';

const noteSchema = z.object({
  /** The thread of a session for which Raymond chose another id. */
  thread: z.string(),
  /** Its tokens at the end of its newest turn. */
  totals: z.optional(z.object({ input: z.number(), cached: z.number(), output: z.number() })),
});

export type ThreadNote = z.infer<typeof noteSchema>;

export interface Threads {
  /** The note about a session, by its id in the run or by that of its thread. */
  read(session: string): ThreadNote | undefined;
  write(session: string, note: ThreadNote): void;
  /** What codex's own record of the thread says; empty if it cannot be read. */
  recorded(thread: string): ReturnType<typeof readRollout>;
}

export function threadsIn(folder: string, environment: NodeJS.ProcessEnv): Threads {
  const home = environment.CODEX_HOME || join(environment.HOME || homedir(), '.codex');
  const known = new Map<string, ThreadNote>();
  return {
    read: (session) => known.get(session) ?? readNote(folder, session),
    write(session, note) {
      known.set(session, note);
      writeNote(folder, session, note);
    },
    recorded: (thread) => readRecord(join(home, 'sessions'), thread),
  };
}

function readNote(folder: string, session: string): ThreadNote | undefined {
  const file = fileOf(folder, session);
  if (file === undefined) return undefined;
  try {
    const text = readRegularFileSync(file, 64 * 1024).toString('utf8');
    return z.safeParse(noteSchema, JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Ignores write errors: the thread is also in the journal, and its tokens are in codex's record. */
function writeNote(folder: string, session: string, note: ThreadNote): void {
  const file = fileOf(folder, session);
  if (file === undefined) return;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.new`, `${JSON.stringify(note)}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch {
    // Ignored, as stated above.
  }
}

/** Ids come from a journal, which may be changed by others, so they must not leave the folder. */
function fileOf(folder: string, session: string): string | undefined {
  return isId(session) ? join(folder, `codex-${session}.json`) : undefined;
}

const isId = (text: string) => /^[\w-]{1,100}$/.test(text);

const MAX_RECORD_BYTES = 256 * 1024 * 1024;

/** Codex keeps a file per thread, in a folder of the day on which the thread began. */
function readRecord(sessions: string, thread: string): ReturnType<typeof readRollout> {
  if (!isId(thread)) return {};
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
