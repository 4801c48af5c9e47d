import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { readRegularFileSync } from '../files/regular-file.ts';

/** The notes of an executor about its sessions. */
export interface KeptNotes<T> {
  /** Undefined when nothing is known of the session. */
  read(session: string): T | undefined;
  write(session: string, note: T): void;
}

/**
 * Keeps a small file for each session. Write errors are ignored: a missing note matters only after a
 * resume, and the turn itself is safe.
 */
export function keptNotes<S extends z.ZodMiniType>(
  folder: string,
  schema: S,
  prefix = '',
): KeptNotes<z.infer<S>> {
  const known = new Map<string, z.infer<S>>();
  const fileOf = (session: string) =>
    isSessionId(session) ? join(folder, `${prefix}${session}.json`) : undefined;
  return {
    read: (session) => known.get(session) ?? readNote(fileOf(session), schema),
    write(session, note) {
      known.set(session, note);
      const file = fileOf(session);
      if (file === undefined) return;
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        writeFileSync(`${file}.new`, `${JSON.stringify(note)}\n`, { mode: 0o600 });
        renameSync(`${file}.new`, file);
      } catch {
        // Ignored, as stated above.
      }
    },
  };
}

/** Ids come from a journal, which may be changed by others, so they must not leave a folder. */
export const isSessionId = (text: string): boolean => /^[\w-]{1,100}$/.test(text);

function readNote<S extends z.ZodMiniType>(file: string | undefined, schema: S) {
  if (file === undefined) return undefined;
  try {
    const text = readRegularFileSync(file, MOST_NOTE_BYTES).toString('utf8');
    return z.safeParse(schema, JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const MOST_NOTE_BYTES = 64 * 1024;
