/** All files of the workflows of a run, for workers that lack them. */
import { createHash } from 'node:crypto';
import type { Queries } from './database.ts';
import { ForeignRow, type RowSeals } from './seals.ts';

/** Stores all files of a workflow, in place of earlier ones. */
export async function keepArchive(
  { query }: Queries,
  rows: RowSeals,
  id: string,
  ref: string,
  archive: Uint8Array,
): Promise<void> {
  await query(
    `insert into raymond.sources (run, ref, archive, seal) values ($1, $2, $3, $4)
     on conflict (run, ref) do update set archive = excluded.archive, seal = excluded.seal`,
    [id, ref, Buffer.from(archive), await rows.make('source', sourceFacts(id, ref, archive))],
  );
}

/** With `rows`, throws ForeignRow for files without a seal. */
export async function archiveOf(
  { query }: Queries,
  id: string,
  ref: string,
  rows?: RowSeals,
): Promise<Uint8Array | undefined> {
  const [found] = await query<{ archive: Buffer; seal: string | null }>(
    'select archive, seal from raymond.sources where run = $1 and ref = $2',
    [id, ref],
  );
  if (!found) return undefined;
  const { archive, seal } = found;
  if (rows && !(await rows.holds('source', sourceFacts(id, ref, archive), seal)))
    throw new ForeignRow(`the stored files of ${ref}`);
  return archive;
}

const sourceFacts = (run: string, ref: string, archive: Uint8Array) => [
  run,
  ref,
  createHash('sha256').update(archive).digest('hex'),
];
