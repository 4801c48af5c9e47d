/**
 * The heads of runs that this user has seen on this machine, in a folder of the user. So a database that
 * was set back to an earlier moment is noticed by every machine that has seen a later one.
 */

import { join } from 'node:path';
import * as z from 'zod/mini';
import { type Disk, makeFolder, readText, replaceCache } from '../journal/disk.ts';
import { reasonOf } from '../journal/disk-errors.ts';
import { attempt } from '../model/attempt.ts';
import { CHANNEL } from './announcer.ts';
import type { Transaction } from './database.ts';
import type { Head } from './head.ts';
import type { RowSeals } from './seals.ts';

const positionSchema = z.object({
  born: z.uuid(),
  era: z.number(),
  seq: z.number(),
  link: z.string(),
});

/** A position in the chain of a run. */
export type Position = z.infer<typeof positionSchema>;

export interface Heads {
  /** The latest position of a run that was seen here. */
  newest(born: string): Promise<Position | undefined>;
  /** Costs nothing. It reaches the disk with the next `save`. */
  note(head: Pick<Head, 'born' | 'era' | 'seq' | 'link'>): void;
  /** Never rejects: a machine that cannot remember says so once. */
  save(): Promise<void>;
}

/** Remembers nothing. For whoever trusts all rows. */
export const NO_HEADS: Heads = {
  newest: async () => undefined,
  note: () => {},
  save: async () => {},
};

export function headsIn(disk: Disk, folder: string, report: (text: string) => void): Heads {
  const noted = new Map<string, Position>();
  let saving: Promise<void> = Promise.resolve();
  let hasReported = false;
  const fileOf = (born: string) => join(folder, born);
  const saved = async (born: string) => readPosition(await readText(disk, fileOf(born), 1_000));
  const save = async () => {
    const positions = [...noted.values()];
    noted.clear();
    for (const position of positions) {
      try {
        const known = await saved(position.born);
        if (known && !isAfter(position, known)) continue;
        await makeFolder(disk, folder);
        if (!known) await makeRoom(disk, folder);
        await replaceCache(disk, fileOf(position.born), JSON.stringify(position));
      } catch (error) {
        if (!hasReported)
          report(
            `Raymond cannot remember in ${folder} how far your runs in databases are: ${reasonOf(error)}.`,
          );
        hasReported = true;
      }
    }
  };
  return {
    async newest(born) {
      if (!z.safeParse(z.uuid(), born).success) return undefined;
      await saving;
      const [here, there] = [noted.get(born), await saved(born).catch(() => undefined)];
      return here && there ? (isAfter(here, there) ? here : there) : (here ?? there);
    },
    note({ born, era, seq, link }) {
      if (link === null) return;
      const position = { born, era, seq, link };
      const known = noted.get(born);
      if (!known || isAfter(position, known)) noted.set(born, position);
    },
    save() {
      saving = saving.then(save);
      return saving;
    },
  };
}

function isAfter(a: Position, b: Position): boolean {
  return a.era === b.era ? a.seq > b.seq : a.era > b.era;
}

function readPosition(text: string | undefined): Position | undefined {
  return z.safeParse(
    positionSchema,
    attempt(() => JSON.parse(text ?? 'null')),
  ).data;
}

/** Runs that are removed stay remembered for a while, so that nobody can put them back. */
const MOST_HEADS = 20_000;

/** Forgets the runs that were seen least recently. */
async function makeRoom(disk: Disk, folder: string): Promise<void> {
  const names = await disk.list(folder);
  if (names.length < MOST_HEADS) return;
  const seen = names.map(async (name) => ({
    path: join(folder, name),
    at: (await disk.look(join(folder, name)))?.changedAt ?? 0,
  }));
  const oldest = (await Promise.all(seen)).sort((a, b) => a.at - b.at).slice(0, MOST_HEADS / 10);
  for (const { path } of oldest) await disk.unlink(path).catch(() => {});
}

/** The position after which a run has no more. */
export const removed = ({ born, era }: Pick<Head, 'born' | 'era'>): Position => ({
  ...{ born, era, seq: Number.MAX_SAFE_INTEGER, link: '' },
});

/**
 * Lets the machines of all workers remember a position. A command sends it in the transaction that makes
 * it, so a run cannot be set back before a worker looks at it.
 */
export async function announceHead(
  { write }: Transaction,
  rows: RowSeals,
  { born, era, seq, link }: Pick<Head, 'born' | 'era' | 'seq' | 'link'>,
): Promise<void> {
  const seal = link === null ? null : await rows.make('position', [born, era, seq, link]);
  if (seal === null) return;
  const notice = JSON.stringify({ born, era, seq, link, seal });
  write('select pg_notify($1, $2)', [CHANNEL, `head ${notice}`]);
}

const announcedSchema = z.extend(positionSchema, { seal: z.string() });

/** Notes a position that a command has announced. */
export async function hearHead(heads: Heads, rows: RowSeals, notice: string): Promise<void> {
  const position = z.safeParse(
    announcedSchema,
    attempt(() => JSON.parse(notice)),
  ).data;
  if (!position) return;
  const { born, era, seq, link, seal } = position;
  if (!(await rows.holds('position', [born, era, seq, link], seal))) return;
  heads.note(position);
  await heads.save();
}
