import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { attempt } from '../../model/attempt.ts';
import type { SessionUse } from '../../model/event.ts';
import { readSealed, type StepSeals, writeSealed } from './step-seals.ts';

/** The notes of an executor about its sessions. */
export interface KeptNotes<T> {
  /** Undefined when nothing is known of the session. */
  read(session: string): T | undefined;
  write(session: string, note: T): void;
}

/**
 * Keeps a small file for each session. Write errors are ignored: a missing note matters only after a
 * resume, and the turn itself is safe. A note that Raymond did not write counts as missing.
 */
export function keptNotes<S extends z.ZodMiniType<object>>(
  seals: StepSeals,
  folder: string,
  schema: S,
  prefix = '',
): KeptNotes<z.infer<S>> {
  const known = new Map<string, z.infer<S>>();
  const fileOf = (session: string) =>
    isSessionId(session) ? join(folder, `${prefix}${session}.json`) : undefined;
  return {
    read(session) {
      const note = known.get(session);
      if (note !== undefined) return note;
      const file = fileOf(session);
      const kept = file === undefined ? undefined : readSealed(seals, file, schema);
      return kept === 'foreign' ? undefined : kept;
    },
    write(session, note) {
      known.set(session, note);
      const file = fileOf(session);
      if (file !== undefined) attempt(() => writeSealed(seals, file, note));
    },
  };
}

interface NotesOfRun {
  readonly seals: StepSeals;
  readonly folder: string;
}

/** Gives one run the notes that executors have about sessions of another one. */
export function copyNotes(from: NotesOfRun, to: NotesOfRun, sessions: readonly string[]): void {
  const names = attempt(() => readdirSync(from.folder)) ?? [];
  const wanted = new Set(sessions.filter(isSessionId));
  for (const session of wanted)
    for (const name of names.filter((one) => isNoteOf(one, session))) {
      const note = readSealed(from.seals, join(from.folder, name), noteSchema);
      if (note === undefined || note === 'foreign') continue;
      attempt(() => writeSealed(to.seals, join(to.folder, name), note));
      // Some agents name sessions themselves, and have a note by that name.
      for (const own of [note.session, note.thread])
        if (typeof own === 'string' && isSessionId(own)) wanted.add(own);
    }
}

/** What machines of workers know about the content of a session is no note of an executor. */
const isNoteOf = (name: string, session: string) =>
  (name === `${session}.json` || name.endsWith(`-${session}.json`)) && !name.startsWith('here-');

const noteSchema = z.looseObject({});

/** The session whose history a step continues or copies. */
export const sourceOf = (session: SessionUse): string =>
  session.use === 'branch' ? session.from : session.id;

/** Ids come from a journal, which may be changed by others, so they must not leave a folder. */
export const isSessionId = (text: string): boolean => /^[\w-]{1,100}$/.test(text);
