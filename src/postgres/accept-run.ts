import type { Queries } from './database.ts';
import { eventsAfter, lockRow } from './run-row.ts';
import type { RowSeals } from './seals.ts';
import { keepArchive } from './workflow-archives.ts';

/** Seals everything in the name of the user, who has accepted the run of another one. */
export async function sealRows(queries: Queries, rows: RowSeals, id: string): Promise<void> {
  const { query } = queries;
  const row = await lockRow(queries, id, rows);
  for await (const events of eventsAfter(queries, id, row, 0)) {
    const texts = await query<{ seq: number; event: string }>(
      'select seq, event from raymond.events where run = $1 and seq = any($2)',
      [id, events.map(({ seq }) => seq)],
    );
    const seals = await Promise.all(
      texts.map(({ seq, event }) => rows.make('event', [id, seq, row.version, event])),
    );
    await query(
      `update raymond.events e set seal = t.seal from unnest($2::int[], $3::text[]) as t (seq, seal)
        where e.run = $1 and e.seq = t.seq`,
      [id, texts.map(({ seq }) => seq), seals],
    );
  }
  for (const { ref, archive } of await query<{ ref: string; archive: Buffer }>(
    'select ref, archive from raymond.sources where run = $1',
    [id],
  ))
    await keepArchive(queries, rows, id, ref, archive);
  for (const { root, snapshot } of await query<{ root: string; snapshot: string }>(
    'select root, snapshot from raymond.trees where run = $1',
    [id],
  ))
    await query('update raymond.trees set seal = $3 where run = $1 and root = $2', [
      ...[id, root, await rows.make('tree', [id, root, snapshot])],
    ]);
  for (const { session, executor, sha256 } of await query<Record<string, string>>(
    'select session, executor, sha256 from raymond.sessions where run = $1',
    [id],
  ))
    await query('update raymond.sessions set seal = $3 where run = $1 and session = $2', [
      ...[id, session],
      await rows.make('session', [id, session ?? '', executor ?? '', sha256 ?? '']),
    ]);
}
