import { existsSync } from 'node:fs';
import { readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { endLeftovers } from '../execute/process.ts';
import type { RunPaths } from '../journal/project.ts';
import type { Run } from '../model/run.ts';

/**
 * A journal that was salvaged, or put back from a backup, does not know of all the steps that were
 * executed. Whatever still runs of those is ended, and what they left makes way under another name.
 */
export async function setLostStepsAside({ folders }: RunPaths, run: Run): Promise<void> {
  const known = new Map<string, number>();
  for (const agents of [run.agents, run.endedAgents])
    for (const [id, { steps }] of agents) known.set(dirname(folders.step(id, 0)), steps);

  for (const agent of await foldersIn(dirname(dirname(folders.step('any', 0))))) {
    for (const step of await foldersIn(agent)) {
      const number = Number(step.slice(agent.length + 1));
      if (!(number > (known.get(agent) ?? 0))) continue;
      await endLeftovers(step);
      await rename(step, freeName(`${step}.lost`));
    }
  }
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
