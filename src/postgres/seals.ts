/**
 * Seals in the database. Those of a run prove that the user chose its settings, as in files. Here, others
 * may write every row, so each row on which a worker acts has its own seal.
 */
import type { UserKey } from '../journal/user-key.ts';
import { UserError } from '../model/user-error.ts';
import type { Queries } from './database.ts';

/** The seal for choices, or the reason why there is none. */
export async function sealFor(
  key: UserKey,
  chosen: string,
): Promise<{ readonly seals: readonly string[]; readonly problem: UserError | undefined }> {
  try {
    return { seals: [await key.seal(PURPOSE, chosen)], problem: undefined };
  } catch (error) {
    if (error instanceof UserError) return { seals: [], problem: error };
    throw error;
  }
}

export async function isSealed(
  key: UserKey,
  chosen: string,
  seals: readonly string[],
): Promise<boolean> {
  try {
    for (const seal of seals) if (await key.isSealed(PURPOSE, chosen, seal)) return true;
    return false;
  } catch (error) {
    // Without a key of the user, no seal is valid.
    if (error instanceof UserError) return false;
    throw error;
  }
}

export async function addSeals(
  { query }: Queries,
  id: string,
  seals: readonly string[],
): Promise<void> {
  await query(
    `update raymond.runs set seals = (select coalesce(array_agg(seal), '{}') from (
       select seal from (select distinct unnest(seals || $2::text[]) as seal) all_seals limit ${MOST_SEALS}
     ) kept) where id = $1`,
    [id, seals],
  );
}

/** The text that a seal of a run covers. Its files come from the remote and go there, so it is part of it. */
export function coveredText(
  sealedText: string,
  { remote, roots }: { readonly remote: string | null; readonly roots: readonly string[] },
): string {
  if (remote === null && roots.length === 0) return sealedText;
  return JSON.stringify([sealedText, remote, roots]);
}

/** Seals rows, and recognises the rows that a key of the user has sealed. */
export interface RowSeals {
  /** Null without a key. */
  make(kind: RowKind, facts: readonly (string | number)[]): Promise<string | null>;
  holds(kind: RowKind, facts: readonly (string | number)[], seal: string | null): Promise<boolean>;
}

export type RowKind = 'event' | 'snapshot' | 'source' | 'session' | 'tree';

/** With `trustsAll`, rows without a seal count, too. */
export function rowSeals(key: UserKey, { trustsAll = false } = {}): RowSeals {
  return {
    async make(kind, facts) {
      // A snapshot contains events of others, and whoever has not checked them does not vouch for them.
      if (trustsAll && kind === 'snapshot') return null;
      const known = key.sealIfKnown(kind, JSON.stringify(facts));
      return (await known.catch(withoutKey)) ?? null;
    },
    async holds(kind, facts, seal) {
      if (trustsAll) return true;
      if (seal === null) return false;
      const known = key.isSealed(kind, JSON.stringify(facts), seal);
      return (await known.catch(withoutKey)) ?? false;
    },
  };
}

function withoutKey(error: unknown): undefined {
  if (!(error instanceof UserError)) throw error;
}

/** A row on which a worker does not act. */
export class ForeignRow extends Error {
  constructor(what: string) {
    super(
      `No key on this machine has sealed ${what}. Copy the key of its user, or start this worker with --trust-runs. If the run is yours, another program or a worker without your key has written this row: start the run again.`,
    );
  }
}

/** The same purpose as in files, so that a run can be moved. */
const PURPOSE = 'run';
const MOST_SEALS = 500;
