import type { UserKey } from '../journal/user-key.ts';
import type { Run } from '../model/run.ts';
import type { EachEvent } from '../ports.ts';
import type { Queries } from './database.ts';
import { type RunParts, type RunRow, runOf } from './run-row.ts';
import { coveredText, isSealed, type RowSeals } from './seals.ts';

/** The run of a row, and whether it is the user's own: its choices and all its events have seals. */
export async function ownRun(
  queries: Queries,
  { codec, sealedText, rows, key }: RunParts & { readonly key: UserKey },
  id: string,
  row: RunRow,
  each?: EachEvent,
): Promise<{ readonly run: Run; readonly isOwn: boolean }> {
  const noted = noting(rows);
  const run = await runOf(queries, { codec, rows: noted.rows }, id, row, { each });
  const isChosen = await isSealed(key, coveredText(sealedText(run), row), row.seals);
  return { run, isOwn: isChosen && !noted.isForeign() };
}

/** Takes events without a seal for read, and remembers that there were some. */
function noting(rows: RowSeals): { readonly rows: RowSeals; readonly isForeign: () => boolean } {
  let isForeign = false;
  const holds: RowSeals['holds'] = async (kind, facts, seal) => {
    // Without a snapshot, all events are read.
    if (kind === 'snapshot') return rows.holds(kind, facts, seal);
    isForeign ||= !(await rows.holds(kind, facts, seal));
    return true;
  };
  return { rows: { ...rows, holds }, isForeign: () => isForeign };
}
