/**
 * Seals in the database. Others may write every row, so each row on which a worker acts has a seal of the
 * user's key. See `head.ts` for what keeps the rows of a run together.
 */
import type { UserKey } from '../journal/user-key.ts';
import { UserError } from '../model/user-error.ts';

/** Seals rows, and recognises the rows that a key of the user has sealed. */
export interface RowSeals {
  /** Null without a key. */
  make(kind: RowKind, facts: Facts): Promise<string | null>;
  holds(kind: RowKind, facts: Facts, seal: string | null): Promise<boolean>;
}

export type RowKind = 'event' | 'head' | 'position' | 'snapshot' | 'session';
type Facts = readonly (string | number | null)[];

export function rowSeals(key: UserKey): RowSeals {
  return {
    async make(kind, facts) {
      const known = key.sealIfKnown(kind, JSON.stringify(facts));
      return (await known.catch(withoutKey)) ?? null;
    },
    async holds(kind, facts, seal) {
      if (seal === null) return false;
      const known = key.isSealed(kind, JSON.stringify(facts), seal);
      return (await known.catch(withoutKey)) ?? false;
    },
  };
}

/** All rows count. Whoever has not checked them does not vouch for what follows from them. */
export const UNCHECKED_ROWS: RowSeals = { make: async () => null, holds: async () => true };

/** The reason why the user has no key, if there is one. Creates the key. */
export async function keyProblem(key: UserKey): Promise<UserError | undefined> {
  try {
    await key.derived('head');
    return undefined;
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
}

function withoutKey(error: unknown): undefined {
  if (!(error instanceof UserError)) throw error;
}

/** A row on which a worker does not act. */
export class ForeignRow extends Error {
  constructor(run: string, what: string) {
    super(
      `No key on this machine has sealed ${what}. Copy the key of its user, or start this worker with --trust-runs. If the run is yours, another program or a worker without your key has changed it. Check it: raymond show ${run}. To approve it: raymond resume ${run} --trust-run`,
    );
  }
}
