/**
 * What was learned of each session while it was used. Its transcript would tell most of it, but that
 * may lie where only the agent knows: a wrapper script can choose another configuration folder.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';

const noteSchema = z.object({
  /** The model of turns for which none was named: the user's own choice. */
  ownModel: z.optional(z.string()),
  /** The model that was named last. Without one, the session still has its own. */
  namedModel: z.optional(z.string()),
  /** The total in its newest result. */
  totalUsd: z.optional(z.number()),
  /** The newest message after which its history can be cut. */
  checkpoint: z.optional(z.string()),
  /** The folder in which the agent keeps transcripts of the session's directory. */
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

/** A note that cannot be kept is missed at most after a resume; the turn itself is safe. */
function writeNote(folder: string, session: string, note: SessionNote): void {
  const file = fileOf(folder, session);
  if (file === undefined) return;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.new`, `${JSON.stringify(note)}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch {
    // See above.
  }
}

/** Ids come from a journal, which somebody may have changed: they cannot lead out of the folder. */
function fileOf(folder: string, session: string): string | undefined {
  return /^[\w-]{1,100}$/.test(session) ? join(folder, `${session}.json`) : undefined;
}
