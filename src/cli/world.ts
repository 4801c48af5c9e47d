/** What runs and tests of workflows are told of the world around them. */
import { lstat, realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type ProjectArea, projectArea } from '../files/project-area.ts';
import type { DirectoryFact, Located } from '../model/input.ts';
import type { WorkflowLibrary, World } from '../ports.ts';
import { homeFolder } from './user-folders.ts';

export interface Began {
  readonly cwd: string;
  readonly startedAt: number;
}

export async function runWorld(began: Began, library: WorkflowLibrary): Promise<World> {
  const area = await projectArea(began.cwd, homeFolder());
  return {
    findDirectory: (path, from) => findDirectory(path, from, area),
    async lookAtWorkflow(ref) {
      const files = await Promise.all(library.filesOf(ref).map(lookAtFile));
      const inProject = await Promise.all(files.map(({ path }) => area.holds(path)));
      return {
        inProject: inProject.length > 0 && inProject.every(Boolean),
        unchanged: files.length > 0 && files.every(({ changedAt }) => changedAt <= began.startedAt),
      };
    },
    environment: environmentNames(),
  };
}

/** A test is for the workflow, whoever runs it and whenever its files were written. */
export async function testWorld(cwd: string): Promise<World> {
  const area = await projectArea(cwd, homeFolder());
  return {
    findDirectory: (path, from) => findDirectory(path, from, area),
    lookAtWorkflow: async () => ({ inProject: true, unchanged: true }),
    environment: new Set(),
  };
}

async function findDirectory(
  path: string,
  from: string,
  area: ProjectArea,
): Promise<Located<DirectoryFact>> {
  const absolute = resolve(from, path);
  try {
    if (!(await stat(absolute)).isDirectory())
      return { found: false, problem: `${absolute} is not a directory.` };
    const real = await realpath(absolute);
    return { found: true, path: real, inProject: await area.holds(real) };
  } catch {
    return { found: false, problem: `There is no directory ${absolute}.` };
  }
}

/** Nobody can set a change time back. A file that is gone has changed. */
async function lookAtFile(file: string): Promise<{ path: string; changedAt: number }> {
  try {
    const [link, target] = await Promise.all([lstat(file), stat(file)]);
    return { path: await realpath(file), changedAt: Math.max(link.ctimeMs, target.ctimeMs) };
  } catch {
    return { path: file, changedAt: Number.POSITIVE_INFINITY };
  }
}

/** Of the variables that a step's programs inherit. */
export function environmentNames(): ReadonlySet<string> {
  const names = Object.keys(process.env);
  return new Set(process.platform === 'win32' ? names.map((name) => name.toLowerCase()) : names);
}
