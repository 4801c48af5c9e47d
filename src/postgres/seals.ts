/** The seals of runs in the database: as in files, they prove that the user chose the settings. */
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

/** The same purpose as in files, so that a run can be moved. */
const PURPOSE = 'run';
const MOST_SEALS = 500;
