/**
 * One orchestrator per run. Generations of the lock are files `lock.1`, `lock.2`, …: the owner of the
 * last one holds the lock. Why exactly one process can:
 *
 * - A generation appears by `link`, complete and only if the name is free, so it has one owner.
 * - Only its living owner removes it, on release. What a dead owner, or damage, has left stays for
 *   ever, as do all generations before it.
 * - Hence a generation that was found dead stays dead, and whoever goes on to the next number, at
 *   whatever speed, competes for one name with everybody else.
 */
import { randomUUID } from 'node:crypto';
import { basename, dirname } from 'node:path';
import * as z from 'zod/mini';
import { UserError } from '../model/user-error.ts';
import { type Disk, hasCode, makeFolder, readText, writeAll, writeBeside } from './disk.ts';
import { cureOf, reasonOf } from './disk-errors.ts';

/** Tells a process from a later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it was started, as the system tells it. */
  readonly started: string;
  /** Which boot of the machine that was. */
  readonly boot: string;
}

export interface Lock {
  release(): Promise<void>;
}

/** Takes the lock in a run's own folder, or throws a UserError that names the owner. */
export async function takeLock(
  disk: Disk,
  path: string,
  self: ProcessIdentity,
  isAlive: (owner: ProcessIdentity) => boolean,
): Promise<Lock> {
  const text = JSON.stringify({ ...self, token: randomUUID() });
  let mine: string;
  try {
    await makeFolder(disk, dirname(path));
    mine = await writeBeside(disk, path, (file) => writeAll(file, Buffer.from(text), 0));
  } catch (error) {
    throw unusable(path, error);
  }
  try {
    for (;;) {
      const { owner, freeName } = await lastGeneration(disk, path, isAlive);
      if (owner) throw lockedBy(owner, path);
      if (await linked(disk, mine, freeName))
        return { release: () => release(disk, freeName, text) };
    }
  } finally {
    await disk.unlink(mine).catch(() => {});
  }
}

/** The living process that holds the lock, if there is one. */
export async function lockOwner(
  disk: Disk,
  path: string,
  isAlive: (owner: ProcessIdentity) => boolean,
): Promise<ProcessIdentity | undefined> {
  return (await lastGeneration(disk, path, isAlive)).owner;
}

async function lastGeneration(
  disk: Disk,
  path: string,
  isAlive: (owner: ProcessIdentity) => boolean,
): Promise<{ readonly owner: ProcessIdentity | undefined; readonly freeName: string }> {
  for (let number = 1; ; number++) {
    const name = `${path}.${number}`;
    const text = await readText(disk, name, MAX_LOCK_BYTES).catch((error) => {
      throw unusable(name, error);
    });
    if (text === undefined) return { owner: undefined, freeName: name };
    const owner = ownerIn(text);
    if (owner && isAlive(owner)) return { owner, freeName: name };
  }
}

const MAX_LOCK_BYTES = 64 * 1024;

const ownerSchema = z.object({
  pid: z.int().check(z.positive()),
  started: z.string(),
  boot: z.string(),
});

/** Undefined for garbage: since a lock appears complete, that is damage and nobody's lock. */
function ownerIn(text: string): ProcessIdentity | undefined {
  try {
    return z.safeParse(ownerSchema, JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

async function linked(disk: Disk, from: string, to: string): Promise<boolean> {
  try {
    await disk.link(from, to);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw unusable(to, error);
  }
}

/** Somebody may have removed our file by hand, and another process have locked since. */
async function release(disk: Disk, name: string, text: string): Promise<void> {
  try {
    if ((await readText(disk, name, MAX_LOCK_BYTES)) === text) await disk.unlink(name);
  } catch {
    // A lock that cannot be removed dies with its owner.
  }
}

function lockedBy(owner: ProcessIdentity, path: string): UserError {
  const run = basename(dirname(path));
  return new UserError(
    'run-locked',
    `The run ${run} is being worked on by process ${owner.pid}.`,
    `Wait for it, or end it: raymond stop ${run}`,
  );
}

function unusable(path: string, error: unknown): UserError {
  return new UserError(
    'lock-unusable',
    `The run cannot be locked with ${path}: ${reasonOf(error)}.`,
    `${cureOf(error)}, then try again.`,
  );
}
