import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownerIn, writeCrowdedRun, writeKeptRuns } from '../../test/kept-runs.ts';
import type { BenchCase } from '../frame/case.ts';
import { project } from '../frame/project.ts';

const bin = join(import.meta.dirname, '..', '..', 'bin', 'raymond.js');
const [EVENTS, AGENTS] = [100_000, 200];

/** As a page loads it: the list, the run with its timeline and graph, and its newest lines, in one stream. */
export const serveLong: BenchCase = {
  name: 'serve-long',
  title: '`raymond serve` answers about 100,000 events of 200 agents',
  ...served('ms', 2_000, ({ ms }) => ms),
};

export const serveLongMemory: BenchCase = {
  name: 'serve-long-memory',
  title: 'memory of `raymond serve` after that',
  ...served('MB', 400, ({ mb }) => mb),
};

interface Load {
  readonly ms: number;
  readonly mb: number;
}

function served(
  unit: BenchCase['unit'],
  target: number,
  figure: (load: Load) => number,
): Omit<BenchCase, 'name' | 'title'> {
  return {
    floor: 'a run of 3 steps',
    unit,
    limits: 'value',
    target,
    comparable: false,
    rounds: 3,
    async prepare({ folder }) {
      const flow = project(folder, { 'START.sh': `echo '<result>ok</result>'\n` });
      const home = join(folder, 'home');
      // The user's own runs: those of a stranger are read without their snapshots.
      const owner = await ownerIn(home);
      writeKeptRuns(flow, 1, undefined, owner);
      writeCrowdedRun(flow, 'crowd', EVENTS, AGENTS, owner);
      return {
        floor: async () => figure(await loadedFrom(flow, 'kept-0', home)),
        ours: async () => figure(await loadedFrom(flow, 'crowd', home)),
      };
    },
  };
}

async function loadedFrom(flow: string, run: string, home: string): Promise<Load> {
  const child = spawn(process.execPath, [bin, 'serve', '--port', '0', '--json'], {
    cwd: flow,
    env: { ...process.env, XDG_STATE_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = await once(child.stdout, 'data');
    const { port, token } = JSON.parse(String(line));
    const headers = { authorization: `Bearer ${token}` };
    const begin = performance.now();
    const address = `http://127.0.0.1:${port}/api/changes?run=${run}`;
    const reader = (await fetch(address, { headers })).body?.getReader();
    const decoder = new TextDecoder();
    for (let text = ''; !text.includes('event: lines'); ) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) throw new Error(`The stream has ended: ${text}`);
      text += decoder.decode(value, { stream: true });
    }
    const ms = performance.now() - begin;
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    await reader?.cancel();
    return { ms, mb: Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) / 1024 };
  } finally {
    child.kill('SIGKILL');
  }
}
