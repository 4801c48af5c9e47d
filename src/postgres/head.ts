/**
 * INV-40: A worker with a key acts only on rows that belong to the state of a run that its user has sealed
 * last, as far as this machine knows.
 *
 * The seal of an event covers the seal of the event before it, so each event is a link of a chain. The head
 * is the end of the chain, and has a seal of its own, in the row of the run. So no event can be removed,
 * replaced, moved or added. The head also covers everything else of which only the newest counts: the
 * remote, the ids of the files, and the hashes of the workflows.
 *
 * Whoever writes to the database can still put back the rows of an earlier moment as a whole. Machines
 * that remember a later head notice it: see `seen-heads.ts`.
 */

import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { attempt } from '../model/attempt.ts';
import type { Queries } from './database.ts';
import { ForeignRow, type RowSeals } from './seals.ts';

export interface Head {
  /** Differs from that of an earlier run with the same id. */
  readonly born: string;
  /** Grows when a person accepts the run as it is. Later links then replace those of an earlier era. */
  readonly era: number;
  readonly version: number;
  readonly seq: number;
  /** The seal of the newest event; null if no key has sealed it. */
  readonly link: string | null;
  readonly headSeal: string | null;
  /** The git remote through which the files of the run travel. */
  readonly remote: string | null;
  /** See `Kept`. As text, because the seal covers it. */
  readonly kept: string;
}

export const HEAD = `born::text, era::float8 as era, version, seq, link, head_seal as "headSeal", remote, kept`;

export type UnsealedHead = Omit<Head, 'headSeal'>;

export function sealHead(rows: RowSeals, id: string, head: UnsealedHead): Promise<string | null> {
  return rows.make('head', headFacts(id, head));
}

export function isHeadSealed(rows: RowSeals, id: string, head: Head): Promise<boolean> {
  return rows.holds('head', headFacts(id, head), head.headSeal);
}

/** Throws ForeignRow if no key of the user has sealed the head. */
export async function checkHead(rows: RowSeals, id: string, head: Head): Promise<void> {
  if (!(await isHeadSealed(rows, id, head))) throw new ForeignRow(id, `the state of ${id}`);
}

const headFacts = (id: string, { born, era, version, seq, link, remote, kept }: UnsealedHead) => [
  ...[id, born, era, version, seq, link, remote, kept],
];

/** What an event's seal covers. */
export const linkFacts = (
  id: string,
  { born, version }: Pick<Head, 'born' | 'version'>,
  seq: number,
  previous: string | null,
  event: string,
) => [id, born, version, seq, previous, event];

const keptSchema = z.object({
  /** The id of the newest files of each working tree, by its root. */
  trees: z.readonly(z.record(z.string(), z.string())),
  /** The sha256 of the files of each workflow. */
  sources: z.readonly(z.record(z.string(), z.string())),
  /** The place of the newest stop that is over, so that nobody can post it again. */
  stop: z.number(),
});
export type Kept = z.infer<typeof keptSchema>;

const NOTHING: Kept = { trees: {}, sources: {}, stop: 0 };

export function keptOf({ kept }: Pick<Head, 'kept'>): Kept {
  return (
    z.safeParse(
      keptSchema,
      attempt(() => JSON.parse(kept)),
    ).data ?? NOTHING
  );
}

/** The hash of the files of a workflow. */
export function hashOf(archive: Uint8Array): string {
  return createHash('sha256').update(archive).digest('hex');
}

/** Changes what the head covers beside the events. Locks the run until the end of the transaction. */
export async function changeKept(
  { query }: Queries,
  rows: RowSeals,
  id: string,
  change: (kept: Kept) => Kept,
): Promise<void> {
  const [head] = await query<Head>(`select ${HEAD} from raymond.runs where id = $1 for update`, [
    id,
  ]);
  if (!head) return;
  await checkHead(rows, id, head);
  const kept = JSON.stringify(change(keptOf(head)));
  await query('update raymond.runs set kept = $2, head_seal = $3 where id = $1', [
    ...[id, kept, await sealHead(rows, id, { ...head, kept })],
  ]);
}
