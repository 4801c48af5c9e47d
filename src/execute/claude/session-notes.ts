/**
 * Notes about each session, collected while it was used. Its transcript has most of these facts, but
 * Raymond may not find it: a wrapper script can choose another configuration folder.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';

const noteSchema = z.object({
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

export interface SessionNotes {
  /** Undefined when nothing is known of the session. */
  read(session: string): SessionNote | undefined;
  write(session: string, note: SessionNote): void;
}

export function sessionNotesIn(folder: string): SessionNotes {
  const known = new Map<string, SessionNote>();
  return {
    read: (session) => known.get(session) ?? readNote(folder, session),
    write(session, note) {
      known.set(session, note);
      writeNote(folder, session, note);
    },
  };
}

function readNote(folder: string, session: string): SessionNote | undefined {
  const file = fileOf(folder, session);
  if (file === undefined) return undefined;
  try {
    return z.safeParse(noteSchema, JSON.parse(readFileSync(file, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/** Ignores write errors: a missing note matters only after a resume, and the turn itself is safe. */
function writeNote(folder: string, session: string, note: SessionNote): void {
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

/** Session ids come from a journal, which may be changed by others, so they must not leave the folder. */
function fileOf(folder: string, session: string): string | undefined {
  return /^[\w-]{1,100}$/.test(session) ? join(folder, `${session}.json`) : undefined;
}
