import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchCase } from '../frame/case.ts';
import { type Orchestrator, raymond } from '../frame/orchestrator.ts';
import { project } from '../frame/project.ts';
import { remainingCpuMs } from '../frame/watch-process.ts';

/** Stopping is mostly waiting, so the CPU time counts. */
export const stopAgents: BenchCase = {
  name: 'stop-workers', // Older results have this name.
  title: 'stop 100 sleeping agents, CPU time',
  floor: 'stop 25',
  unit: 'ms',
  limits: 'ratio',
  target: 4.5,
  comparable: true,
  prepare({ folder }) {
    const flow = project(folder, {
      'START.sh': `for ((i = 0; i < AGENTS; i++)); do echo '<fork>WORK</fork>'; done; echo '<goto>WORK</goto>'\n`,
      'WORK.sh': 'echo $$ >"here/$$.part"; mv "here/$$.part" "here/$$"; exec sleep 600\n',
    });
    return {
      floor: () => stopCost(raymond, flow, 25),
      ours: (orchestrator) => stopCost(orchestrator, flow, 100),
    };
  },
};

async function stopCost(orchestrator: Orchestrator, flow: string, agents: number): Promise<number> {
  const here = join(flow, 'here');
  rmSync(here, { recursive: true, force: true });
  mkdirSync(here);
  const started = () =>
    readdirSync(here)
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  const child = orchestrator.start({
    project: flow,
    workflow: '.',
    environment: { AGENTS: agents },
  });
  const exit = once(child, 'exit');
  while (started().length <= agents) {
    if (child.exitCode !== null) throw new Error(`exited with ${child.exitCode} before the stop`);
    await delay(20);
  }
  child.kill('SIGTERM');
  const cost = await remainingCpuMs(child);
  await exit;
  const left = started().filter(isSleeping);
  for (const pid of left) process.kill(pid, 'SIGKILL');
  if (left.length > 0) throw new Error(`left ${left.length} of ${agents + 1} agents running`);
  return cost;
}

/** Pids are reused, so the command is compared as well. */
function isSleeping(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') === 'sleep\x00600\x00';
  } catch {
    return false;
  }
}
