/**
 * INV-15: At most one process works on a run.
 *
 * Generations of the lock are files `lock.1`, `lock.2`, …: the owner of the highest one holds the lock.
 * This is why exactly one process can:
 *
 * - A generation appears by `link`, complete and only if the name is free, so it has one owner.
 * - Only its living owner removes it, on release. The file of a dead owner and a damaged file stay
 *   forever, as do all generations before it.
 * - So all processes that find the highest generation dead compete for the next name.
 * - An owner that was only silent may wake up. It beats before it looks for a successor. A successor
 *   checks that beat after its own file has appeared. So one of the two sees the other and withdraws.
 */
import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { UnusableFile } from '../files/regular-file.ts';
import type { RunLost } from '../model/run-lost.ts';
import type { Clock } from '../ports.ts';
import {
  type Disk,
  type DiskFile,
  hasCode,
  makeFolder,
  readText,
  writeAll,
  writeBeside,
} from './disk.ts';
import {
  elsewhere,
  lockedBy,
  lockInherited,
  lockRemoved,
  lockTaken,
  lockUnusable,
  tookOver,
} from './lock-errors.ts';
import { generationName, numbersIn } from './lock-files.ts';
import {
  BEAT_MS,
  type Condition,
  conditionOf,
  isHere,
  isRestarted,
  type LocatedProcess,
  type LockOwner,
  type ProcessIdentity,
  STALE_MS,
} from './lock-owner.ts';
import { beatText, lockText, ownerIn } from './lock-text.ts';

export interface LockWorld {
  readonly self: LocatedProcess;
  readonly clock: Clock;
  /** Whether a process that can be seen from here lives. */
  isAlive(owner: ProcessIdentity): boolean;
  /** Reports why taking the lock takes longer, or from which process it was taken over. */
  report(text: string): void;
}

export interface Lock {
  /** Rejects with RunLost if the run is lost. Usually needs two disk reads, in parallel. */
  confirm(): Promise<void>;
  /** Why the run is lost, if it is. */
  loss(): Promise<RunLost | undefined>;
  /** Whether enough time has passed since the last confirmation that another process may have taken the lock. */
  needsConfirming(): boolean;
  /** The previous owner, if it is silent but may still live and write. */
  readonly silent: LockOwner | undefined;
  release(): Promise<void>;
}

/** Takes the lock in a run's own folder, or throws a UserError that names the owner. */
export async function takeLock(disk: Disk, path: string, world: LockWorld): Promise<Lock> {
  const text = lockText({ ...world.self, token: randomUUID() }, world.clock.now());
  let mine: string;
  try {
    await makeFolder(disk, dirname(path));
    mine = await writeBeside(disk, path, (file) => writeAll(file, Buffer.from(text), 0));
  } catch (error) {
    throw lockUnusable(path, error);
  }
  try {
    for (;;) {
      const numbers = await numbersIn(disk, path);
      const before = await generationsAt(disk, path, numbers, world);
      refuseIfOwned(before, path, world);
      const last = before.at(-1);
      if (last?.condition === 'silent') await watchSilent(disk, last, path, world);
      const number = (last?.number ?? 0) + 1;
      const name = generationName(path, number);
      if (!(await linked(disk, mine, name))) continue;
      if (await isOvertaken(disk, path, number, last)) {
        await disk.unlink(name);
        continue;
      }
      const silent = last?.condition === 'silent' ? last.owner : undefined;
      if (silent && !isRestarted(silent, world.self)) world.report(tookOver(silent));
      return await hold(disk, path, number, world, text.length, silent);
    }
  } finally {
    await disk.unlink(mine).catch(() => {});
  }
}

/** The living process that holds the lock, if any. */
export async function lockOwner(
  disk: Disk,
  path: string,
  world: Omit<LockWorld, 'report'>,
): Promise<LockOwner | undefined> {
  const highest = (await numbersIn(disk, path)).slice(-1);
  return (await generationsAt(disk, path, highest, world)).find(isLiving)?.owner;
}

interface Generation {
  readonly number: number;
  readonly owner: LockOwner | undefined;
  readonly condition: Condition;
}

const isLiving = ({ condition }: Generation) => condition === 'alive';

async function generationsAt(
  disk: Disk,
  path: string,
  numbers: readonly number[],
  { self, clock, isAlive }: Omit<LockWorld, 'report'>,
): Promise<readonly Generation[]> {
  const found: Generation[] = [];
  for (const number of numbers) {
    const owner = await readOwner(disk, generationName(path, number));
    if (owner === 'gone') continue;
    const condition = owner ? conditionOf(owner, self, isAlive, clock.now()) : 'dead';
    found.push({ number, owner, condition });
  }
  return found;
}

const MAX_LOCK_BYTES = 64 * 1024;

/** Undefined for damage. */
async function readOwner(disk: Disk, name: string): Promise<LockOwner | 'gone' | undefined> {
  try {
    // A link would let the lock be in one place and its owner in another.
    if ((await disk.look(name))?.kind === 'link')
      throw new UnusableFile('NOT-A-FILE', 'it is a link');
    const text = await readText(disk, name, MAX_LOCK_BYTES);
    return text === undefined ? 'gone' : ownerIn(text);
  } catch (error) {
    throw lockUnusable(name, error);
  }
}

function refuseIfOwned(
  found: readonly Generation[],
  path: string,
  { self, clock }: LockWorld,
): void {
  const owner = found.findLast(isLiving)?.owner;
  if (!owner) return;
  throw lockedBy(owner, path, { here: isHere(owner, self), now: clock.now() });
}

/** Longer than an owner takes from one beat to the next. */
const WATCH_MS = 1.5 * BEAT_MS;

/** A silent owner may live: a clock may be wrong, or the machine slept and the owner had no time to beat. */
async function watchSilent(
  disk: Disk,
  { number, owner }: Generation,
  path: string,
  { self, clock, report }: LockWorld,
): Promise<void> {
  if (!owner || isRestarted(owner, self)) return;
  report(
    `The lock belongs to ${elsewhere(owner)}. It seems to be dead. Waiting ${WATCH_MS / 1000} s to make sure.`,
  );
  await new Promise<void>((resolve) => clock.at(clock.now() + WATCH_MS, resolve));
  const later = await readOwner(disk, generationName(path, number));
  if (later && later !== 'gone' && later.beat !== owner.beat)
    throw lockedBy({ ...later, beat: clock.now() }, path, { here: false, now: clock.now() });
}

/** Whether a higher generation has appeared, or the silent owner has woken up. */
async function isOvertaken(
  disk: Disk,
  path: string,
  number: number,
  last: Generation | undefined,
): Promise<boolean> {
  if (((await numbersIn(disk, path)).at(-1) ?? 0) > number) return true;
  if (last?.condition !== 'silent') return false;
  const now = await readOwner(disk, generationName(path, last.number));
  return now !== undefined && now !== 'gone' && now.beat !== last.owner?.beat;
}

async function linked(disk: Disk, from: string, to: string): Promise<boolean> {
  try {
    await disk.link(from, to);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw lockUnusable(to, error);
  }
}

/** The lock of this process. It beats until it is released or lost. */
async function hold(
  disk: Disk,
  path: string,
  number: number,
  world: LockWorld,
  length: number,
  silent: LockOwner | undefined,
): Promise<Lock> {
  const { clock } = world;
  const name = generationName(path, number);
  const file = await openOwn(disk, name);
  const identity = await file.identity();
  let lastBeat = clock.now();
  let lost: RunLost | undefined;
  let cancelBeat = () => {};

  const isOld = (limit: number) => Math.abs(clock.now() - lastBeat) >= limit;
  const beat = async () => {
    const now = clock.now();
    const bytes = Buffer.from(beatText(now));
    await writeAll(file, bytes, length - bytes.length);
    // In this order: see the invariant above.
    lost ??= await successorOf(disk, path, number);
    lastBeat = now;
  };
  const beatAgain = () => {
    cancelBeat = clock.at(clock.now() + BEAT_MS, () => {
      // The same error occurs again before the next append, where it matters.
      void beat().catch(() => {});
      if (!lost) beatAgain();
    });
  };
  beatAgain();
  /** A process that can write to the file can make this one look dead, and then it has a successor. */
  const loss = async () => {
    if (lost) return lost;
    const [own, successor] = await Promise.all([
      lossOf(disk, path, number, identity, world),
      successorOf(disk, path, number),
    ]);
    lost ??= own ?? successor;
    return lost;
  };
  return {
    async confirm() {
      if (isOld(BEAT_MS))
        await beat().catch((error) => {
          // There is time for a retry.
          if (isOld(STALE_MS / 2)) throw lockUnusable(name, error);
        });
      const lost = await loss();
      if (lost) throw lost;
    },
    loss,
    needsConfirming: () => isOld(STALE_MS / 2),
    silent,
    async release() {
      cancelBeat();
      await file.close().catch(() => {});
      try {
        if (!(await lossOf(disk, path, number, identity, world))) await disk.unlink(name);
      } catch {
        // A lock that cannot be removed becomes invalid when its owner ends.
      }
    },
  };
}

async function openOwn(disk: Disk, name: string): Promise<DiskFile> {
  try {
    return await disk.open(name, 'change');
  } catch (error) {
    await disk.unlink(name).catch(() => {});
    throw lockUnusable(name, error);
  }
}

/** Someone may have removed the file by hand, and another process may have taken the lock since. */
async function lossOf(
  disk: Disk,
  path: string,
  number: number,
  identity: string,
  world: LockWorld,
): Promise<RunLost | undefined> {
  const name = generationName(path, number);
  if ((await disk.identity(name)) === identity) return undefined;
  const heir = await lockOwner(disk, path, world);
  if (!heir) return lockRemoved(path, name);
  return isHere(heir, world.self) ? lockInherited(path, heir) : lockTaken(path, heir);
}

/** A process that takes over from a silent owner can see neither the owner nor its steps. */
async function successorOf(disk: Disk, path: string, number: number): Promise<RunLost | undefined> {
  const name = generationName(path, number + 1);
  if ((await disk.identity(name)) === undefined) return undefined;
  const owner = await readOwner(disk, name);
  return lockTaken(path, owner === 'gone' ? undefined : owner);
}
