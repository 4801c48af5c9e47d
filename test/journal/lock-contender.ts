/**
 * A process that takes a lock a number of times, or dies while it holds the first one. While it
 * holds the lock, it creates a file that must not exist yet.
 */
import { appendFileSync, closeSync, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { realDisk } from '../../src/journal/disk.ts';
import { type LockWorld, takeLock } from '../../src/journal/lock.ts';
import type { ProcessIdentity } from '../../src/journal/lock-owner.ts';
import { UserError } from '../../src/model/user-error.ts';

const [folder = '', rounds = '1', dies = ''] = process.argv.slice(2);
const world: LockWorld = {
  self: { pid: process.pid, started: 'now', boot: 'this', space: 'here', host: 'here' },
  clock: { now: () => Date.now(), at: () => () => {} },
  isAlive,
  report: () => {},
};
const critical = join(folder, 'critical');
const note = (word: string) => appendFileSync(join(folder, 'notes'), `${word}\n`);

for (let held = 0; held < Number(rounds); ) {
  const lock = await takeLock(realDisk, join(folder, 'lock'), world).catch(refused);
  if (!lock) continue;
  held++;
  await hold();
  if (dies) process.kill(process.pid, 'SIGKILL');
  await lock.release();
}

function refused(error: unknown): undefined {
  if (!(error instanceof UserError) || error.code !== 'run-locked') throw error;
}

async function hold(): Promise<void> {
  try {
    closeSync(openSync(critical, 'wx'));
  } catch {
    note('two holders');
    return;
  }
  // Long enough for a second holder to appear.
  for (let i = 0; i < 2000; i++) await setImmediate();
  unlinkSync(critical);
  note('held');
}

function isAlive({ pid }: ProcessIdentity): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
