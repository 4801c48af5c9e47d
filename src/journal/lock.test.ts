import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diskError, guarded } from '../../test/journal/door.ts';
import { temporaryFolder } from '../../test/journal/fixtures.ts';
import { type Disk, realDisk } from './disk.ts';
import { type Lock, lockOwner, type ProcessIdentity, takeLock } from './lock.ts';

const me: ProcessIdentity = { pid: 100, started: 'a', boot: 'x' };
const other: ProcessIdentity = { pid: 200, started: 'b', boot: 'x' };
const everybodyLives = () => true;
const everybodyIsDead = () => false;

async function newLock() {
  const folder = join(await temporaryFolder(), 'runs', 'demo-1');
  return { folder, path: join(folder, 'lock') };
}

describe('a lock', () => {
  test('is refused while its owner lives, with the pid', async () => {
    const { path } = await newLock();
    await takeLock(realDisk, path, other, everybodyLives);
    await expect(takeLock(realDisk, path, me, everybodyLives)).rejects.toMatchObject({
      code: 'run-locked',
      message: 'The run demo-1 is being worked on by process 200.',
    });
    expect(await lockOwner(realDisk, path, everybodyLives)).toEqual(other);
  });

  test('is free after its release, and nothing is left of it', async () => {
    const { folder, path } = await newLock();
    const lock = await takeLock(realDisk, path, other, everybodyLives);
    await lock.release();
    expect(await readdir(folder)).toEqual([]);
    await takeLock(realDisk, path, me, everybodyLives);
    expect(await lockOwner(realDisk, path, everybodyLives)).toEqual(me);
  });

  test('of a dead owner is taken over', async () => {
    const { path } = await newLock();
    await takeLock(realDisk, path, other, everybodyLives);
    const isAlive = (owner: ProcessIdentity) => owner.pid !== other.pid;
    const lock = await takeLock(realDisk, path, me, isAlive);
    expect(await lockOwner(realDisk, path, isAlive)).toEqual(me);
    await lock.release();
    expect(await lockOwner(realDisk, path, isAlive)).toBeUndefined();
  });

  test.each([
    ['empty', ''],
    ['garbage', '\0\0\0\0'],
    ['half written', '{"pid":20'],
    ['of another form', '{"owner":200}'],
  ])('file that is %s blocks nobody', async (_name, content) => {
    const { path } = await newLock();
    await (await takeLock(realDisk, path, me, everybodyLives)).release();
    await writeFile(`${path}.1`, content);
    await takeLock(realDisk, path, me, everybodyLives);
    expect(await lockOwner(realDisk, path, everybodyLives)).toEqual(me);
  });

  test('that is no longer ours is not released', async () => {
    const { path } = await newLock();
    const lock = await takeLock(realDisk, path, me, everybodyLives);
    await rm(`${path}.1`);
    await takeLock(realDisk, path, other, everybodyLives);
    await lock.release();
    expect(JSON.parse(await readFile(`${path}.1`, 'utf8'))).toMatchObject(other);
  });

  test('leaves nothing behind on a full disk', async () => {
    const { folder, path } = await newLock();
    const disk = guarded(realDisk, (operation) =>
      operation === 'write' ? { half: true, error: diskError('ENOSPC') } : undefined,
    );
    await expect(takeLock(disk, path, me, everybodyLives)).rejects.toMatchObject({
      code: 'lock-unusable',
      remedy: 'Free some space, then try again.',
    });
    expect(await readdir(folder)).toEqual([]);
  });

  test('goes to one of those who start at once, dead owner or none', async () => {
    const { path } = await newLock();
    await takeLock(realDisk, path, other, everybodyIsDead);
    const isAlive = (owner: ProcessIdentity) => owner.pid !== other.pid;
    const starters = Array.from({ length: 20 }, (_, i) =>
      takeLock(realDisk, path, { ...me, pid: 1000 + i }, isAlive),
    );
    const won = (await Promise.allSettled(starters)).filter((one) => one.status === 'fulfilled');
    expect(won).toHaveLength(1);
  });

  test('has one holder in any interleaving of takers, releases and deaths', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(fc.boolean(), { maxLength: 6 }), (s, deaths) =>
        interleaved(s, deaths),
      ),
      { numRuns: 150 },
    );
  });
});

/** Every operation of the disk waits for its turn, which the scheduler gives in any order. */
async function interleaved(s: fc.Scheduler, deaths: readonly boolean[]): Promise<void> {
  const { path } = await newLock();
  const disk: Disk = {
    ...realDisk,
    open: (name, how) => s.schedule(Promise.resolve()).then(() => realDisk.open(name, how)),
    link: (from, to) => s.schedule(Promise.resolve()).then(() => realDisk.link(from, to)),
    unlink: (name) => s.schedule(Promise.resolve()).then(() => realDisk.unlink(name)),
  };
  const dead = new Set<number>();
  const isAlive = ({ pid }: ProcessIdentity) => !dead.has(pid);
  let holders = 0;
  const contend = async (pid: number, dies: boolean) => {
    let lock: Lock;
    try {
      lock = await takeLock(disk, path, { ...me, pid }, isAlive);
    } catch {
      return;
    }
    expect(++holders).toBe(1);
    await s.schedule(Promise.resolve());
    holders--;
    if (dies) dead.add(pid);
    else await lock.release();
  };
  const all = Promise.all([true, false, ...deaths].map((dies, i) => contend(i + 1, dies)));
  await s.waitFor(all);
}
