import { join } from 'node:path';
import type * as z from 'zod/mini';
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

/** The session whose history a step continues or copies. */
export const sourceOf = (session: SessionUse): string =>
  session.use === 'branch' ? session.from : session.id;

/** Ids come from a journal, which may be changed by others, so they must not leave a folder. */
export const isSessionId = (text: string): boolean => /^[\w-]{1,100}$/.test(text);
