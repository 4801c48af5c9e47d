/** All files of the workflows of a run, for workers that lack them. The head of the run covers their hashes. */
import type { Queries } from './database.ts';
import { changeKept, checkHead, hashOf, keptOf } from './head.ts';
import { findRow } from './run-row.ts';
import { ForeignRow, type RowSeals } from './seals.ts';

/** Stores all files of a workflow, in place of earlier ones, in a transaction of the caller. */
export async function keepArchive(
  queries: Queries,
  rows: RowSeals,
  id: string,
  ref: string,
  archive: Uint8Array,
): Promise<void> {
  await changeKept(queries, rows, id, (kept) => ({
    ...kept,
    sources: { ...kept.sources, [ref]: hashOf(archive) },
  }));
  await queries.query(
    `insert into raymond.sources (run, ref, archive) values ($1, $2, $3)
     on conflict (run, ref) do update set archive = excluded.archive`,
    [id, ref, Buffer.from(archive)],
  );
}

/** With `rows`, throws ForeignRow for files that are not those of the head. */
export async function archiveOf(
  queries: Queries,
  id: string,
  ref: string,
  rows?: RowSeals,
): Promise<Uint8Array | undefined> {
  const [found] = await queries.query<{ archive: Buffer }>(
    'select archive from raymond.sources where run = $1 and ref = $2',
    [id, ref],
  );
  const row = found && rows && (await findRow(queries, id));
  if (row) {
    await checkHead(rows, id, row);
    if (keptOf(row).sources[ref] !== hashOf(found.archive))
      throw new ForeignRow(id, `the stored files of ${ref}`);
  }
  return found?.archive;
}
