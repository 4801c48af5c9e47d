import { join } from 'node:path';
import { realDisk } from '../../src/journal/disk.ts';
import { type Fold, readRun } from '../../src/journal/read-journal.ts';
import { userKey } from '../../src/journal/user-key.ts';
import { ownerIn, writeLongRun } from '../../test/kept-runs.ts';
import type { BenchCase } from '../frame/case.ts';
import { project } from '../frame/project.ts';

const EVENTS = 100_000;

/** Counts the events, so that almost all of the time is for the lines. */
const counted: Fold<number> = {
  apply: (count = 0) => count + 1,
  thaw: () => {
    throw new Error('There is no snapshot.');
  },
};

/** The authenticators of all lines, compared with reading the lines without a key. */
export const verifyJournal: BenchCase = {
  name: 'verify-journal',
  title: 'verifying a journal of 100,000 lines',
  floor: 'reading its lines',
  unit: 'ms',
  limits: 'ratio',
  target: 1.5,
  comparable: false,
  rounds: 20,
  async prepare({ folder }) {
    const flow = project(folder, { 'START.sh': `echo '<result>ok</result>'\n` });
    const home = join(folder, 'state');
    writeLongRun(flow, 'long', EVENTS, undefined, await ownerIn(home));
    const path = join(flow, '.raymond', 'state', 'long.jsonl');
    const key = userKey(realDisk, join(home, 'raymond', 'key'));
    const read = () => readRun(realDisk, path, counted);
    const verify = async () => {
      const { doubt } = await readRun(realDisk, path, counted, { key });
      if (doubt) throw new Error(doubt.why);
    };
    // The first reads are slower, because the code is not compiled yet.
    await read();
    await verify();
    return { floor: () => time(read), ours: () => time(verify) };
  },
};

async function time(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}
