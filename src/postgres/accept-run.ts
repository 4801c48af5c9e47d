import type { Queries } from './database.ts';
import { type Head, hashOf, keptOf } from './head.ts';
import { chain, lockRow } from './run-row.ts';
import type { RowSeals } from './seals.ts';
import { sealSession } from './sessions.ts';

/**
 * Seals everything in the name of the user, who has accepted the run as it is. It begins an era after
 * `seenEra`, so that workers that have seen a later state accept it, too.
 */
export async function acceptRun(
  queries: Queries,
  rows: RowSeals,
  id: string,
  seenEra: number,
): Promise<Head> {
  const { query } = queries;
  const row = await lockRow(queries, id, rows);
  const archives = await query<{ ref: string; archive: Buffer }>(
    'select ref, archive from raymond.sources where run = $1',
    [id],
  );
  const sources = Object.fromEntries(archives.map(({ ref, archive }) => [ref, hashOf(archive)]));
  const kept = JSON.stringify({ ...keptOf(row), sources });
  const head = await chain(queries, rows, id, { ...row, kept }, seenEra);
  const sessions = await query<{ session: string; executor: string; sha256: string }>(
    'select session, executor, sha256 from raymond.sessions where run = $1',
    [id],
  );
  for (const session of sessions) await sealSession(queries, rows, id, head, session);
  return head;
}
