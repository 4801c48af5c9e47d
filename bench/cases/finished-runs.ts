import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { writeKeptRuns } from '../../test/kept-runs.ts';
import type { BenchCase } from '../frame/case.ts';
import { raymond } from '../frame/orchestrator.ts';
import { project } from '../frame/project.ts';
import { timed } from '../frame/timed.ts';

const bin = join(import.meta.dirname, '..', '..', 'bin', 'raymond.js');
const FEW = 1;
const MANY = 1_000;

export const startBesideRuns: BenchCase = {
  name: 'start-beside-runs',
  title: 'a run of one script beside 1,000 finished runs',
  floor: 'beside one',
  unit: 'ms',
  limits: 'ratio',
  target: 1.3,
  comparable: false,
  rounds: 10,
  prepare: async ({ folder }) => {
    const [few, many] = [await projectWith(folder, FEW), await projectWith(folder, MANY)];
    return {
      floor: () => raymond.run({ project: few, workflow: '.' }),
      ours: () => raymond.run({ project: many, workflow: '.' }),
    };
  },
};

export const listRuns: BenchCase = {
  name: 'list-runs',
  title: '`raymond list` of 1,000 runs',
  floor: 'of a few runs',
  unit: 'ms',
  limits: 'ratio',
  target: 3,
  comparable: false,
  rounds: 10,
  prepare: async ({ folder }) => {
    const [few, many] = [await projectWith(folder, 3), await projectWith(folder, MANY)];
    return { floor: () => list(few), ours: () => list(many) };
  },
};

const list = (flow: string) => timed(process.execPath, [bin, 'list'], flow);

/** Waits until the runs are old enough for the index. */
async function projectWith(folder: string, runs: number): Promise<string> {
  const flow = project(folder, { 'START.sh': `echo '<result>ok</result>'\n` });
  raymond.run({ project: flow, workflow: '.' });
  writeKeptRuns(flow, runs);
  while (!existsSync(join(flow, '.raymond', 'index'))) {
    await delay(500);
    list(flow);
  }
  return flow;
}
