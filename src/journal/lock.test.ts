import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { diskError, guarded, type Operation } from '../../test/journal/door.ts';
import { temporaryFolder } from '../../test/journal/fixtures.ts';
import { MemoryDisk } from '../../test/journal/memory-disk.ts';
import { testClock } from '../../test/journal/test-clock.ts';
import { upTo } from '../../test/long.ts';
import { patiently } from '../../test/patiently.ts';
import { RunLost } from '../model/run-lost.ts';
import { type Disk, realDisk } from './disk.ts';
import { type Lock, type LockWorld, lockOwner, takeLock } from './lock.ts';
import type { LocatedProcess, ProcessIdentity } from './lock-owner.ts';

const NOW = 1_794_782_637_000;
const me: LocatedProcess = { pid: 100, started: 'a', boot: 'x', space: 'here', host: 'desk' };
const other: LocatedProcess = { ...me, pid: 200, started: 'b' };
const inContainer: LocatedProcess = { ...other, space: 'container' };
/** Cannot be seen either, and counts as dead without a wait. */
const beforeRestart: LocatedProcess = { ...other, boot: 'before' };
const onServer: LocatedProcess = { ...other, boot: 'y', space: 'container', host: 'server' };

/** A process with its own clock. By default, all processes that it can see are alive. */
function world(self: LocatedProcess, more: Partial<LockWorld> = {}) {
  const time = testClock(NOW);
  const reports: string[] = [];
  const isAlive = () => true;
  const report = (text: string) => reports.push(text);
  return { ...time, reports, world: { self, clock: time.clock, isAlive, report, ...more } };
}

const mine = () => world(me).world;
const withoutOther = { isAlive: ({ pid }: ProcessIdentity) => pid !== other.pid };

const taken = new Set<Lock>();
afterEach(async () => {
  for (const lock of taken) await lock.release();
  taken.clear();
});

/** Like `takeLock`. The test closes the files of the lock at its end. */
async function take(disk: Disk, path: string, by: LockWorld): Promise<Lock> {
  const lock = await takeLock(disk, path, by);
  taken.add(lock);
  return lock;
}

async function newLock() {
  const folder = join(await temporaryFolder(), 'runs', 'demo-1');
  return { folder, path: join(folder, 'lock') };
}

describe('a lock', () => {
  test('is refused while its owner lives, with the pid', async () => {
    const { path } = await newLock();
    await take(realDisk, path, world(other).world);
    await expect(take(realDisk, path, mine())).rejects.toMatchObject({
      code: 'run-locked',
      message: 'Process 200 is working on the run demo-1.',
    });
    expect(await lockOwner(realDisk, path, mine())).toMatchObject(other);
  });

  test('is free after its release, and leaves no file', async () => {
    const { folder, path } = await newLock();
    const lock = await take(realDisk, path, world(other).world);
    await lock.release();
    expect(await readdir(folder)).toEqual([]);
    await take(realDisk, path, mine());
    expect(await lockOwner(realDisk, path, mine())).toMatchObject(me);
  });

  test('of a dead owner can be taken over', async () => {
    const { path } = await newLock();
    await take(realDisk, path, world(other).world);
    const lock = await take(realDisk, path, world(me, withoutOther).world);
    expect(lock.silent).toBeUndefined();
    expect(await lockOwner(realDisk, path, world(me, withoutOther).world)).toMatchObject(me);
    await lock.release();
    expect(await lockOwner(realDisk, path, world(me, withoutOther).world)).toBeUndefined();
  });

  test('of a visible, suspended owner is not taken over', async () => {
    const { path } = await newLock();
    await take(realDisk, path, world(other).world);
    const { world: later, sleepUntil } = world(me);
    sleepUntil(NOW + 3_600_000);
    await expect(take(realDisk, path, later)).rejects.toMatchObject({ code: 'run-locked' });
  });

  test.each([
    ['alive', 'x', 'run-locked'],
    ['dead since a reboot', 'w', undefined],
  ])('of the first release is judged by its process: %s', async (_how, boot, code) => {
    const { folder, path } = await newLock();
    await mkdir(folder, { recursive: true });
    await writeFile(`${path}.1`, JSON.stringify({ pid: 200, started: 'b', boot, token: 't' }));
    const taken = take(realDisk, path, world(me, { isAlive: (one) => one.boot === 'x' }).world);
    if (code) await expect(taken).rejects.toMatchObject({ code });
    else await (await taken).release();
  });

  test.each([
    ['empty', ''],
    ['garbage', '\0\0\0\0'],
    ['half written', '{"pid":20'],
    ['of another form', '{"owner":200}'],
  ])('file that is %s blocks no process', async (_name, content) => {
    const { path } = await newLock();
    await (await take(realDisk, path, mine())).release();
    await writeFile(`${path}.1`, content);
    await take(realDisk, path, mine());
    expect(await lockOwner(realDisk, path, mine())).toMatchObject(me);
  });

  test.each([
    ['a dangling link', (name: string) => symlink('nowhere', name)],
    ['a link to a lock', (name: string) => symlink('real', name)],
    ['a folder', (name: string) => mkdir(name)],
    ['a named pipe', async (name: string) => void spawnSync('mkfifo', [name])],
  ])('whose name is %s is refused immediately', async (_what, make) => {
    const { folder, path } = await newLock();
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'real'), JSON.stringify({ ...other, beat: NOW }));
    await make(`${path}.1`);
    const refused = {
      code: 'lock-unusable',
      message: expect.stringContaining(`${path}.1`),
      remedy: 'Move or remove it, then try again.',
    };
    await expect(take(realDisk, path, mine())).rejects.toMatchObject(refused);
    await expect(lockOwner(realDisk, path, mine())).rejects.toMatchObject(refused);
    expect((await readdir(folder)).sort()).toEqual(['lock.1', 'real']);
  });

  test('leaves nothing behind on a full disk', async () => {
    const { folder, path } = await newLock();
    const disk = guarded(realDisk, (operation) =>
      operation === 'write' ? { half: true, error: diskError('ENOSPC') } : undefined,
    );
    await expect(take(disk, path, mine())).rejects.toMatchObject({
      code: 'lock-unusable',
      remedy: 'Free some space, then try again.',
    });
    expect(await readdir(folder)).toEqual([]);
  });

  test('leaves nothing behind if its file cannot be opened', async () => {
    const { folder, path } = await newLock();
    let opened = 0;
    const disk = guarded(realDisk, (operation) =>
      operation === 'open' && ++opened === 2 ? { error: diskError('EMFILE') } : undefined,
    );
    await expect(take(disk, path, mine())).rejects.toMatchObject({
      code: 'lock-unusable',
      remedy: expect.stringContaining('ulimit -n'),
    });
    expect(await readdir(folder)).toEqual([]);
  });

  test('is given back if a higher generation has appeared meanwhile', async () => {
    const { folder, path } = await newLock();
    const disk: Disk = {
      ...realDisk,
      async link(from, to) {
        await writeFile(`${path}.2`, JSON.stringify({ ...other, beat: NOW }));
        await realDisk.link(from, to);
      },
    };
    await expect(take(disk, path, mine())).rejects.toMatchObject({ code: 'run-locked' });
    expect(await readdir(folder)).toEqual(['lock.2']);
  });

  test('goes to one of several processes that start together, with or without a dead owner', async () => {
    const { path } = await newLock();
    await take(realDisk, path, world(other).world);
    const starters = Array.from({ length: 20 }, (_, i) =>
      take(realDisk, path, world({ ...me, pid: 1000 + i }, withoutOther).world),
    );
    const won = (await Promise.allSettled(starters)).filter((one) => one.status === 'fulfilled');
    expect(won).toHaveLength(1);
  });

  test('has one holder in any interleaving of takers, releases and deaths', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(fc.boolean(), { maxLength: 6 }), (s, deaths) =>
        interleaved(s, deaths),
      ),
      { numRuns: 300 },
    );
  });
});

describe('a lock of an owner that cannot be seen', () => {
  test.each([inContainer, onServer])('is refused while it beats: $host', async (owner) => {
    const { path } = await newLock();
    await take(realDisk, path, world(owner).world);
    const { world: here, sleepUntil } = world(me, { isAlive: () => false });
    sleepUntil(NOW + 59_000);
    await expect(take(realDisk, path, here)).rejects.toMatchObject({
      code: 'run-locked',
      message: `The run demo-1 belongs to process 200 on ${owner.host}, in another container or on another machine. Its last heartbeat was 59 s ago.`,
      remedy: expect.stringContaining('try again in 1 s'),
    });
    expect(await lockOwner(realDisk, path, here)).toMatchObject(owner);
  });

  test('stays as long as that owner works, by one small write every ten seconds', async () => {
    const { path } = await newLock();
    const counts: Operation[] = [];
    const disk = guarded(realDisk, (operation) => {
      counts.push(operation);
      return undefined;
    });
    const { world: there, moveTo } = world(inContainer);
    await take(disk, path, there);
    const { world: here, sleepUntil } = world(me, { isAlive: () => false });
    for (let beat = 1; beat <= 20; beat++) {
      counts.length = 0;
      moveTo(NOW + beat * 10_000);
      await patiently(() => expect(counts).toEqual(['write', 'identity']));
      sleepUntil(NOW + beat * 10_000 + 9_999);
      expect(await lockOwner(realDisk, path, here)).toMatchObject(inContainer);
    }
  });

  test('is taken over without a report after a restart of the machine', async () => {
    const { path } = await newLock();
    await take(realDisk, path, world(beforeRestart).world);
    const { world: here, sleepUntil, reports } = world(me);
    sleepUntil(NOW + 61_000);
    await take(realDisk, path, here);
    expect(reports).toEqual([]);
  });

  test.each([
    ['long ago', onServer, NOW + 61_000],
    ['in the future', onServer, NOW - 3_600_000],
    ['before this machine slept', inContainer, NOW + 3_600_000],
  ])(
    'is watched first if its owner is silent, because a clock may be wrong: beat %s',
    async (_when, owner, now) => {
      const { path } = await newLock();
      await take(realDisk, path, world(owner).world);
      const { world: here, sleepUntil, moveTo, calls, reports } = world(me);
      sleepUntil(now);
      const taking = take(realDisk, path, here);
      await patiently(() => expect(calls.size).toBe(1));
      expect(reports).toEqual([expect.stringContaining('Waiting 15 s to make sure.')]);
      moveTo(now + 15_000);
      expect((await taking).silent).toMatchObject(owner);
      expect(reports[1]).toMatch(
        /^Raymond took the run over from process 200 .* may still run there/,
      );
    },
  );

  test('on another machine with a wrong clock is refused when it beats meanwhile', async () => {
    const { path } = await newLock();
    const there = world(onServer);
    await take(realDisk, path, there.world);
    const here = world(me);
    here.sleepUntil(NOW + 3_600_000);
    const taking = take(realDisk, path, here.world);
    await patiently(() => expect(here.calls.size).toBe(1));
    const before = await readFile(`${path}.1`, 'utf8');
    there.moveTo(NOW + 10_000);
    await patiently(async () => expect(await readFile(`${path}.1`, 'utf8')).not.toBe(before));
    here.moveTo(NOW + 3_615_000);
    await expect(taking).rejects.toMatchObject({ code: 'run-locked' });
  });
});

describe('an owner', () => {
  test('confirms its lock with two looks', async () => {
    const { path } = await newLock();
    const counts: Operation[] = [];
    const disk = guarded(realDisk, (operation) => {
      counts.push(operation);
      return undefined;
    });
    const lock = await take(disk, path, mine());
    counts.length = 0;
    await lock.confirm();
    expect(counts).toEqual(['identity', 'identity']);
  });

  test('whose file others have overwritten loses the run as soon as a process takes it', async () => {
    const { path } = await newLock();
    const first = await take(realDisk, path, mine());
    await writeFile(`${path}.1`, JSON.stringify({ pid: 1, started: 'no', boot: 'w', token: 't' }));
    await first.confirm();
    const second = await take(realDisk, path, world(other, { isAlive: () => false }).world);
    await expect(first.confirm()).rejects.toMatchObject({ code: 'lock-lost' });
    await second.confirm();
  });

  test('that was silent for too long notices the loss before it acts', async () => {
    const { path } = await newLock();
    const first = world(beforeRestart);
    const lock = await take(realDisk, path, first.world);
    expect(lock.needsConfirming()).toBe(false);
    const second = world(me);
    second.sleepUntil(NOW + 300_000);
    const taken = await take(realDisk, path, second.world);
    first.sleepUntil(NOW + 301_000);
    expect(lock.needsConfirming()).toBe(true);
    await expect(lock.confirm()).rejects.toMatchObject({
      code: 'lock-lost',
      message: expect.stringContaining('Process 100 on desk has taken over the run demo-1'),
    });
    await expect(lock.confirm()).rejects.toBeInstanceOf(RunLost);
    await lock.release();
    await taken.confirm();
    expect(await lockOwner(realDisk, path, second.world)).toMatchObject(me);
  });

  test('and a process that considers it dead never hold the lock together, in any interleaving', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (s) => {
        const path = '/runs/demo-1/lock';
        const play = { isOver: false };
        const disk = scheduled(s, play);
        const first = world(beforeRestart);
        const held = await s.waitFor(take(disk, path, first.world));
        first.sleepUntil(NOW + 61_000);
        const second = world(me);
        second.sleepUntil(NOW + 61_000);
        const both = Promise.allSettled([held.confirm(), take(disk, path, second.world)]);
        const holders = (await s.waitFor(both)).filter(({ status }) => status === 'fulfilled');
        play.isOver = true;
        expect(holders.length).toBeLessThanOrEqual(1);
      }),
      upTo(2000),
    );
  });

  test.each([
    ['was removed', async (name: string) => rm(name), /The lock .* was removed/],
    [
      'belongs to another process',
      async (name: string) => {
        await rm(name);
        await take(realDisk, name.replace(/\.1$/, ''), world(other).world);
      },
      /process 200 is working on the run now\. Raymond leaves the running steps to it/,
    ],
    [
      'is in a folder that was removed',
      (name: string) => rm(join(name, '..'), { recursive: true }),
      /was removed/,
    ],
  ])('whose lock %s has lost the run, and leaves the lock alone', async (_how, harm, message) => {
    const { folder, path } = await newLock();
    const lock = await take(realDisk, path, mine());
    await lock.confirm();
    await harm(`${path}.1`);
    const left = await readdir(folder).catch(() => undefined);
    await expect(lock.confirm()).rejects.toMatchObject({
      code: 'lock-lost',
      message: expect.stringMatching(message),
    });
    await lock.release();
    expect(await readdir(folder).catch(() => undefined)).toEqual(left);
  });

  test('that cannot beat continues for half a minute, and then stops', async () => {
    const { path } = await newLock();
    let isFull = false;
    const disk = guarded(realDisk, (operation) =>
      isFull && operation === 'write' ? { error: diskError('ENOSPC') } : undefined,
    );
    const { world: here, sleepUntil } = world(me);
    const lock = await take(disk, path, here);
    isFull = true;
    sleepUntil(NOW + 29_000);
    await lock.confirm();
    sleepUntil(NOW + 30_000);
    await expect(lock.confirm()).rejects.toMatchObject({
      code: 'lock-unusable',
      remedy: 'Free some space, then try again.',
    });
  });
});

/** Every disk operation waits for its turn. The scheduler gives the turns in any order, until the play ends. */
function scheduled(s: fc.Scheduler, play: { isOver: boolean }): Disk {
  const disk = new MemoryDisk();
  const turn = () => (play.isOver ? Promise.resolve() : s.schedule(Promise.resolve()));
  return {
    ...guarded(disk, () => undefined),
    async open(name, how) {
      await turn();
      const file = await disk.open(name, how);
      return {
        ...file,
        write: (bytes, position) => turn().then(() => file.write(bytes, position)),
      };
    },
    link: (from, to) => turn().then(() => disk.link(from, to)),
    unlink: (name) => turn().then(() => disk.unlink(name)),
    list: (name) => turn().then(() => disk.list(name)),
    identity: (name) => turn().then(() => disk.identity(name)),
  };
}

async function interleaved(s: fc.Scheduler, deaths: readonly boolean[]): Promise<void> {
  const path = '/runs/demo-1/lock';
  const play = { isOver: false };
  const disk = scheduled(s, play);
  const dead = new Set<number>();
  const isAlive = ({ pid }: ProcessIdentity) => !dead.has(pid);
  let holders = 0;
  const contend = async (pid: number, dies: boolean) => {
    let lock: Lock;
    try {
      lock = await take(disk, path, world({ ...me, pid }, { isAlive }).world);
    } catch {
      return;
    }
    expect(++holders).toBe(1);
    await s.schedule(Promise.resolve());
    await lock.confirm();
    holders--;
    if (dies) dead.add(pid);
    else await lock.release();
  };
  const all = Promise.all([true, false, ...deaths].map((dies, i) => contend(i + 1, dies)));
  await s.waitFor(all);
  play.isOver = true;
}
