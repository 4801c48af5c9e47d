import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ownerIn, writeLongRun } from '../../test/kept-runs.ts';
import type { Bench, BenchCase, Measures } from '../frame/case.ts';
import { project } from '../frame/project.ts';
import { timed } from '../frame/timed.ts';

const bin = join(import.meta.dirname, '..', '..', 'bin', 'raymond.js');
const EVENTS = 100_000;
const BYTES_BETWEEN_SNAPSHOTS = 1024 * 1024;
const PARSE = `for (const line of require('fs').readFileSync(process.argv[1], 'utf8').split('\\n'))
  if (line) JSON.parse(line);`;

export const showLong: BenchCase = {
  name: 'show-long',
  title: '`raymond show` of 100,000 events',
  ...long(3, (flow, user) => timed(process.execPath, [bin, 'show', 'long'], flow, user)),
};

type User = Readonly<Record<'XDG_STATE_HOME', string>>;

const resume = (flow: string, user: User) =>
  timed(process.execPath, [bin, 'resume', 'long'], flow, user);

/** As a run writes its journal. */
export const resumeSnapshots: BenchCase = {
  name: 'resume-snapshots',
  title: '`raymond resume` after 100,000 events',
  ...long(2, resume, BYTES_BETWEEN_SNAPSHOTS),
};

/** As after a crash that lost the pointer to the newest snapshot, or an upgrade of the journal. */
export const resumeLong: BenchCase = {
  name: 'resume-long',
  title: '`raymond resume` after 100,000 events without snapshots',
  ...long(2, resume),
};

function long(
  target: number,
  measure: (flow: string, user: User) => number,
  bytesBetweenSnapshots?: number,
): Omit<BenchCase, 'name' | 'title'> {
  return {
    floor: 'reading and parsing the file',
    unit: 'ms',
    limits: 'ratio',
    target,
    comparable: false,
    prepare: (bench) => measures(bench, measure, bytesBetweenSnapshots),
  };
}

async function measures(
  { folder }: Bench,
  measure: (flow: string, user: User) => number,
  bytesBetweenSnapshots: number | undefined,
): Promise<Measures> {
  const flow = project(folder, { 'START.sh': `echo '<result>ok</result>'\n` });
  const [state, whole] = [join(flow, '.raymond', 'state'), join(flow, 'whole')];
  const [home, heads] = [join(folder, 'home'), join(folder, 'heads')];
  const owner = await ownerIn(home);
  writeLongRun(flow, 'long', EVENTS, bytesBetweenSnapshots, owner);
  cpSync(state, whole, { recursive: true });
  cpSync(owner.heads, heads, { recursive: true });
  return {
    floor: () => timed(process.execPath, ['-e', PARSE, join(whole, 'long.jsonl')], flow),
    ours() {
      // A resume continues the run, so each round begins with the same files.
      rmSync(join(flow, '.raymond'), { recursive: true });
      cpSync(whole, state, { recursive: true });
      cpSync(heads, owner.heads, { recursive: true });
      return measure(flow, { XDG_STATE_HOME: home });
    },
  };
}
