import { existsSync } from 'node:fs';
import { readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RunPaths } from '../journal/project.ts';
import type { Run } from '../model/run.ts';
import { processesOf } from './store.ts';

/**
 * A journal that was salvaged, or put back from a backup, does not know of all the steps that were
 * executed. Whatever still runs of those is ended, and what they left makes way under another name.
 */
export async function setLostStepsAside(paths: RunPaths, run: Run): Promise<void> {
  const lost = await lostSteps(paths, run);
  if (lost.length === 0) return;
  await processesOf(paths).endSteps(lost);
  for (const step of lost) await rename(step, freeName(`${step}.lost`));
}

async function lostSteps({ folders }: RunPaths, run: Run): Promise<readonly string[]> {
  const known = new Map<string, number>();
  for (const agents of [run.agents, run.endedAgents])
    for (const [id, { steps }] of agents) known.set(dirname(folders.step(id, 0)), steps);

  const lost: string[] = [];
  for (const agent of await foldersIn(dirname(dirname(folders.step('any', 0))))) {
    for (const step of await foldersIn(agent)) {
      const number = Number(step.slice(agent.length + 1));
      if (number > (known.get(agent) ?? 0)) lost.push(step);
    }
  }
  return lost;
}

async function foldersIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.map((name) => join(folder, name));
}

function freeName(wanted: string): string {
  let name = wanted;
  for (let number = 2; existsSync(name); number++) name = `${wanted}-${number}`;
  return name;
}
