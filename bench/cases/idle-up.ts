import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchCase } from '../frame/case.ts';

const bin = join(import.meta.dirname, '..', '..', 'bin', 'raymond.js');
const WORKFLOWS = 10;
/** V8 collects the garbage of the start within two minutes. Folders are looked at twice a minute, all at once. */
const [SETTLING_MS, MEASURED_MS] = [120_000, 30_000];

export const idleUp: BenchCase = {
  name: 'idle-up',
  title: '`raymond up` keeps 100 triggers, of which none is due: processor time in 30 s',
  ...kept('ms', 100, ({ ms }) => ms),
};

export const idleUpMemory: BenchCase = {
  name: 'idle-up-memory',
  title: 'memory of `raymond up` after that',
  ...kept('MB', 80, ({ mb }) => mb),
};

interface Idle {
  readonly ms: number;
  readonly mb: number;
}

function kept(
  unit: BenchCase['unit'],
  target: number,
  figure: (idle: Idle) => number,
): Omit<BenchCase, 'name' | 'title'> {
  return {
    floor: 'the same without triggers',
    unit,
    limits: 'value',
    target,
    comparable: false,
    rounds: 1,
    prepare: ({ folder }) => ({
      floor: async () => figure((await both(folder)).floor),
      ours: async () => figure((await both(folder)).ours),
    }),
  };
}

/** Both cases show the same measurement, because it takes so long. Processes that do nothing do not disturb each other. */
let known: Promise<{ readonly floor: Idle; readonly ours: Idle }> | undefined;

function both(folder: string) {
  known ??= Promise.all([idle(folder, 0), idle(folder, WORKFLOWS)]).then(([floor, ours]) => ({
    floor,
    ours,
  }));
  return known;
}

/** Each workflow has ten triggers: four times, three webhooks and three folders. */
async function idle(folder: string, workflows: number): Promise<Idle> {
  const user = mkdtempSync(join(folder, 'user-'));
  const env = { ...process.env, XDG_CONFIG_HOME: join(user, 'c'), XDG_STATE_HOME: join(user, 's') };
  const project = join(user, 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  writeFileSync(join(project, '.git', 'HEAD'), 'ref: refs/heads/main\n');
  for (let flow = 0; flow < workflows; flow++) {
    mkdirSync(join(project, `flow${flow}`));
    mkdirSync(join(project, `in${flow}`));
    writeFileSync(join(project, `flow${flow}`, 'START.sh'), `echo '<result>ok</result>'\n`);
    const triggers = [
      ...[1, 2, 3, 4].map((day) => `{ schedule: "${flow} 3 29 2 ${day}" }`),
      ...[1, 2, 3].map((hook) => `{ webhook: hook${flow}-${hook}, unsigned: true }`),
      ...[1, 2, 3].map((kind) => `{ files: "in${flow}/${kind}*" }`),
    ];
    writeFileSync(join(project, `flow${flow}`, 'workflow.yaml'), `triggers: [${triggers}]\n`);
    const trust = [bin, 'trust', `flow${flow}`, '--yes'];
    execFileSync(process.execPath, trust, { cwd: project, env, stdio: 'ignore' });
  }
  const args = [bin, 'up', '--listen', '127.0.0.1:0'];
  const child = spawn(process.execPath, args, {
    cwd: project,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    await new Promise<void>((resolve) => {
      let said = '';
      child.stderr.on('data', (text) => {
        said += text;
        if (said.includes('Keeps ')) resolve();
      });
    });
    await delay(SETTLING_MS);
    const before = cpuMs(child.pid);
    await delay(MEASURED_MS);
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    const mb = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
    return { ms: cpuMs(child.pid) - before, mb };
  } finally {
    child.kill('SIGKILL');
  }
}

/** Of all threads. */
function cpuMs(pid: number | undefined): number {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).reduce((sum, task) => {
    const used = readFileSync(join(tasks, task, 'schedstat'), 'utf8').split(' ')[0];
    return sum + Number(used) / 1e6;
  }, 0);
}
