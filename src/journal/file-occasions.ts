/**
 * The ledger of occasions in files: one folder for each trigger, and one file for each occasion. They are in the
 * user's state folder, because agents work in projects and could move files there.
 *
 * A file appears by `link`, complete and only if the name is free, so of several processes one records an
 * occasion. An outcome replaces the file as a whole. So there is no half-written record, and nothing to repair
 * after a crash.
 */
import { createHash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import { isOpen, type Occasion, type OccasionRecord, type TriggerKey } from '../model/trigger.ts';
import { occasionRecordSchema } from '../model/trigger-schema.ts';
import { UserError } from '../model/user-error.ts';
import type { Occasions } from '../ports.ts';
import {
  type Disk,
  hasCode,
  makeFolder,
  readText,
  replaceCache,
  replaceFile,
  writeAll,
  writeBeside,
} from './disk.ts';
import { type LockWorld, takeLock } from './lock.ts';

export interface FileOccasionsParts {
  readonly disk: Disk;
  /** The folder of all ledgers of the user. */
  readonly folder: string;
  readonly lockWorld: () => LockWorld;
  /** How many final occasions of a trigger are kept at least. */
  readonly keeps?: number;
}

export function fileOccasions({
  disk,
  folder,
  lockWorld,
  keeps = MOST_SETTLED,
}: FileOccasionsParts): Occasions {
  const projectFolder = (project: string) => join(folder, nameFor(project));
  const folderOf = ({ project, workflow, name }: TriggerKey) =>
    join(projectFolder(project), nameFor(workflow, name));
  const fileOf = ({ trigger, id }: Pick<Occasion, 'trigger' | 'id'>) =>
    join(folderOf(trigger), `${id}${RECORD}`);
  const payloadOf = (occasion: Occasion) =>
    join(folderOf(occasion.trigger), `${occasion.id}.payload`);

  /** Whether the file is new. */
  const create = async (path: string, text: string): Promise<boolean> => {
    const complete = await writeBeside(disk, path, (file) => writeAll(file, Buffer.from(text), 0));
    try {
      await disk.link(complete, path);
      return true;
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false;
      throw error;
    } finally {
      await disk.unlink(complete).catch(() => {});
    }
  };

  const damaged = new Set<string>();
  /** A damaged record is as good as final: its name is taken, so its occasion starts nothing any more. */
  const read = async (path: string): Promise<OccasionRecord | undefined> => {
    const text = await readText(disk, path, MAX_RECORD_BYTES);
    if (text === undefined) return undefined;
    const found = occasionRecordSchema.safeParse(parsed(text));
    if (found.success) return found.data;
    if (!damaged.has(path))
      lockWorld().report(
        `Raymond cannot read the record of an occasion in ${path}. It starts no run for this occasion. To let its delivery or file start one, move the record away.`,
      );
    damaged.add(path);
    return undefined;
  };

  /** As they were recorded. Those of the future were recorded before the clock was set back. */
  const inOrder = (records: readonly OccasionRecord[]): readonly OccasionRecord[] => {
    const now = lockWorld().clock.now();
    const isOf = (when: 'future' | 'past') =>
      records.filter(({ occasion: { at } }) => at > now === (when === 'future')).sort(byTime);
    return [...isOf('future'), ...isOf('past')];
  };

  // A file changes only when it is replaced, so its stamp says whether it must be read again.
  const seen = new Map<string, { readonly stamp: string; readonly record: OccasionRecord }>();

  const recordsIn = async (inside: string): Promise<readonly OccasionRecord[]> => {
    if ((await disk.kind(inside)) !== 'folder') return [];
    const records: OccasionRecord[] = [];
    for (const name of (await disk.list(inside)).filter((one) => one.endsWith(RECORD))) {
      const path = join(inside, name);
      const stamp = (await disk.look(path))?.stamp;
      const cached = seen.get(path);
      const record = cached && cached.stamp === stamp ? cached.record : await read(path);
      // Another process may have removed it.
      if (!record || stamp === undefined) continue;
      seen.set(path, { stamp, record });
      records.push(record);
    }
    return inOrder(records);
  };

  const announce = (project: string) =>
    // Nothing depends on it but the time at which others look.
    replaceCache(disk, join(projectFolder(project), NEWS), '').catch(() => {});

  const removeOld = async (trigger: TriggerKey): Promise<void> => {
    // A removal is a few operations for each of many files, so it waits until there are some.
    const isEnough = (count: number) => count >= 1.1 * keeps;
    if (!isEnough((await disk.list(folderOf(trigger))).length)) return;
    const settled = (await recordsIn(folderOf(trigger))).filter(({ outcome }) => !isOpen(outcome));
    if (!isEnough(settled.length)) return;
    for (const { occasion } of settled.slice(0, -keeps)) {
      await removed(disk, payloadOf(occasion));
      await removed(disk, fileOf(occasion));
      seen.delete(fileOf(occasion));
    }
  };

  return {
    async record(occasion, payload, outcome = { kind: 'due' }) {
      const path = fileOf(occasion);
      await makeFolder(disk, folderOf(occasion.trigger));
      if ((await disk.look(path)) !== undefined) return 'known';
      if (payload !== undefined) await create(payloadOf(occasion), payload);
      const isNew = await create(path, textOf({ occasion, outcome }));
      await disk.syncFolder(folderOf(occasion.trigger));
      if (isNew) await announce(occasion.trigger.project);
      return isNew ? 'recorded' : 'known';
    },
    async settle(occasion, outcome) {
      const path = fileOf(occasion);
      const found = await read(path);
      if (!found || !isOpen(found.outcome)) return;
      await replaceFile(disk, path, textOf({ ...found, outcome }));
      if (!isOpen(outcome)) await removeOld(occasion.trigger);
    },
    find: (trigger, id) => (isId(id) ? read(fileOf({ trigger, id })) : Promise.resolve(undefined)),
    open: async (trigger) =>
      (await recordsIn(folderOf(trigger))).filter(({ outcome }) => isOpen(outcome)),
    async newest(of, most) {
      if ('name' in of) return newestOf(await recordsIn(folderOf(of)), most);
      const inside = projectFolder(of.project);
      if ((await disk.kind(inside)) !== 'folder') return [];
      const all: OccasionRecord[] = [];
      for (const name of (await disk.list(inside)).filter(isId))
        all.push(...(await recordsIn(join(inside, name))));
      return newestOf(inOrder(all), most);
    },
    payload: (occasion) => readText(disk, payloadOf(occasion), MAX_PAYLOAD_BYTES),
    async keptSince(trigger, now) {
      const path = join(folderOf(trigger), 'since');
      const since = async () => {
        const time = Number((await readText(disk, path, MAX_RECORD_BYTES)) || Number.NaN);
        if (Number.isSafeInteger(time)) return time;
        // It is damaged. A time that is not stored would be a later one at each look.
        await replaceFile(disk, path, String(now));
        return now;
      };
      if ((await disk.look(path)) !== undefined) return since();
      await makeFolder(disk, folderOf(trigger));
      const isNew = await create(path, String(now));
      await disk.syncFolder(folderOf(trigger));
      return isNew ? now : since();
    },
    async alone(trigger, use) {
      const path = join(folderOf(trigger), 'lock');
      const world = lockWorld();
      for (;;) {
        const lock = await takeLock(disk, path, world).catch((error) => {
          if (error instanceof UserError && error.code === 'run-locked') return undefined;
          throw error;
        });
        if (!lock) {
          await pause(world);
          continue;
        }
        try {
          return await use();
        } finally {
          await lock.release();
        }
      }
    },
    watch(project, changed) {
      let watcher: FSWatcher | undefined;
      let isOver = false;
      makeFolder(disk, projectFolder(project))
        .then(() => {
          if (isOver) return;
          watcher = watch(projectFolder(project), (_, name) => {
            if (name === NEWS) changed();
          });
          watcher.on('error', () => {});
        })
        .catch(() => {});
      return () => {
        isOver = true;
        watcher?.close();
      };
    },
  };
}

const RECORD = '.json';
const NEWS = 'news';
const MAX_RECORD_BYTES = 64 * 1024;
const MAX_PAYLOAD_BYTES = 32 * 1024 * 1024;
/** The newest final occasions of a trigger. A delivery that comes again is known as long as it is one of them. */
const MOST_SETTLED = 1_000;
const PAUSE_MS = 50;

/** Names of projects and workflows are long and have slashes. */
const nameFor = (...parts: readonly string[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);

const isId = (name: string) => /^[0-9a-f]{32}$/.test(name);

const textOf = (record: OccasionRecord) => `${JSON.stringify(record)}\n`;

const newestOf = (records: readonly OccasionRecord[], most: number) =>
  records.slice(-most).reverse();

/** Occasions that were noticed together are in the order of their times or names. */
function byTime({ occasion: a }: OccasionRecord, { occasion: b }: OccasionRecord): number {
  return a.at - b.at || (orderOf(a) < orderOf(b) ? -1 : 1);
}

function orderOf({ cause, id }: Occasion): string {
  switch (cause.kind) {
    case 'schedule':
      return String(cause.time).padStart(16, '0');
    case 'webhook':
      return id;
    case 'files':
      return cause.path;
  }
}

const pause = ({ clock }: LockWorld) =>
  new Promise<void>((resolve) => void clock.at(clock.now() + PAUSE_MS, resolve));

async function removed(disk: Disk, path: string): Promise<void> {
  await disk.unlink(path).catch((error) => {
    if (!hasCode(error, 'ENOENT')) throw error;
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
