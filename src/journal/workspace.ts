import { existsSync } from 'node:fs';
import { readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { walk } from '../files/walk.ts';
import type { Run } from '../model/run.ts';
import { UserError } from '../model/user-error.ts';
import type { Workspace } from '../ports.ts';
import type { Disk } from './disk.ts';
import { archiveIn } from './kept-archives.ts';
import { processLogOf } from './process-log.ts';
import { debugFolder, type Project, type RunPaths, runPaths } from './project.ts';

/** The folders of a run under `.raymond`. */
export function workspaceOf(disk: Disk, project: Project, run: string): Workspace {
  const paths = runPaths(project, run);
  const { folder, source, sessions, worktrees, tasks, files, makings, folders } = paths;
  return {
    ...folders,
    folder,
    source,
    archive: (container) => archiveIn(paths, container),
    hasArchives: () => existsSync(paths.archives),
    sessions,
    worktrees,
    tasks,
    files,
    makings,
    processLog: processLogOf(disk, paths),
    debug: (startedAt) => debugFolder(project, run, startedAt),
    check: () => checkFiles(paths),
    unknownSteps: (known) => unknownSteps(paths, known),
    setAside: (step) => rename(step, freeName(`${step}.lost`)),
  };
}

const MOST_FILES = 200_000;

/** Refuses links, because Raymond would write elsewhere. Agents may create links in task folders. */
async function checkFiles({ folder, ownTasks }: RunPaths): Promise<void> {
  for await (const here of walk(folder, MOST_FILES, (path) => path === ownTasks)) {
    if (!here) throw notOurs(folder, 'there are too many of them');
    const strange = here.entries.find((entry) => !entry.isFile() && !entry.isDirectory());
    if (strange)
      throw notOurs(folder, `${join(here.folder, strange.name)} is not a regular file or folder`);
  }
}

function notOurs(folder: string, why: string): UserError {
  return new UserError(
    'foreign-run',
    `Raymond does not use the files in ${folder}: ${why}.`,
    'Start the workflow with another --workflow-id, or remove the folder.',
  );
}

async function unknownSteps({ steps, folders }: RunPaths, run: Run): Promise<readonly string[]> {
  const known = new Map<string, number>();
  for (const agents of [run.agents, run.endedAgents])
    for (const [id, agent] of agents) known.set(dirname(folders.step(id, 0)), agent.steps);

  const unknown: string[] = [];
  for (const agent of await foldersIn(steps)) {
    for (const step of await foldersIn(agent)) {
      const number = Number(step.slice(agent.length + 1));
      if (number > (known.get(agent) ?? 0)) unknown.push(step);
    }
  }
  return unknown;
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
