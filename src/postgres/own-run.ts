import type { Run } from '../model/run.ts';
import type { EachEvent } from '../ports.ts';
import type { Queries } from './database.ts';
import { isHeadSealed } from './head.ts';
import { DamagedEvents } from './run-errors.ts';
import { eventsAfter, findRow, type RunParts, type RunRow, runOf } from './run-row.ts';
import { ForeignRow } from './seals.ts';
import type { Heads, Position } from './seen-heads.ts';

export interface OwnParts extends RunParts {
  readonly heads: Heads;
}

/**
 * The run of a row, and whether it is the user's own: its head and all its events have seals, and this
 * machine has seen no later state. `missed` is that later state.
 */
export async function ownRun(
  queries: Queries,
  { codec, rows, heads }: OwnParts,
  id: string,
  found: RunRow,
  each?: EachEvent,
): Promise<{ readonly run: Run; readonly isOwn: boolean; readonly missed: Position | undefined }> {
  const { row, missed } = await newestRow(queries, { rows, heads }, id, found);
  let isForeign = !(await isHeadSealed(rows, id, row));
  const onForeign = () => {
    isForeign = true;
  };
  const run = await runOf(queries, { codec, rows, onForeign }, id, row, each);
  const isOwn = !isForeign && !missed;
  if (isOwn) {
    heads.note(row);
    await heads.save();
  }
  return { run, isOwn, missed };
}

/**
 * The row, or a newer one that continues what this machine has seen. Otherwise `missed` is what was seen:
 * the database was set back to an earlier moment.
 */
export async function newestRow(
  queries: Queries,
  parts: Pick<OwnParts, 'rows' | 'heads'>,
  id: string,
  row: RunRow,
): Promise<{ readonly row: RunRow; readonly missed: Position | undefined }> {
  const missed = await laterState(queries, parts, id, row);
  if (!missed) return { row, missed };
  // Another process of the user may have continued the run since the row was read.
  const newer = (await findRow(queries, id)) ?? row;
  return { row: newer, missed: await laterState(queries, parts, id, newer) };
}

/** The state of the run that this machine has seen, if the given one does not continue it. */
async function laterState(
  queries: Queries,
  { rows, heads }: Pick<OwnParts, 'rows' | 'heads'>,
  id: string,
  row: RunRow,
): Promise<Position | undefined> {
  const seen = await heads.newest(row.born);
  if (!seen || row.era > seen.era) return undefined;
  if (row.era < seen.era || row.seq < seen.seq) return seen;
  try {
    const { seq, link } = seen;
    for await (const _ of eventsAfter(queries, id, row, seq, { rows, link }));
    return undefined;
  } catch (error) {
    if (error instanceof ForeignRow || error instanceof DamagedEvents) return seen;
    throw error;
  }
}
