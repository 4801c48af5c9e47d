/** The facts about directories, files and variables that runs and tests of workflows need. */
import { lstat, realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { entryDigest } from '../execute/git/tree-content.ts';
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
    entryDigest,
  };
}

/** The result of a test must not depend on its user or on the change times of files. */
export async function testWorld(cwd: string): Promise<World> {
  const area = await projectArea(cwd, homeFolder());
  return {
    findDirectory: (path, from) => findDirectory(path, from, area),
    lookAtWorkflow: async () => ({ inProject: true, unchanged: true }),
    environment: new Set(),
    entryDigest,
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
    return { found: false, problem: `The directory ${absolute} does not exist.` };
  }
}

/** A change time cannot be set back. A missing file counts as changed. */
async function lookAtFile(file: string): Promise<{ path: string; changedAt: number }> {
  try {
    const [link, target] = await Promise.all([lstat(file), stat(file)]);
    return { path: await realpath(file), changedAt: Math.max(link.ctimeMs, target.ctimeMs) };
  } catch {
    return { path: file, changedAt: Number.POSITIVE_INFINITY };
  }
}

/** The names of the variables that the programs of a step inherit. */
export function environmentNames(): ReadonlySet<string> {
  const names = Object.keys(process.env);
  return new Set(process.platform === 'win32' ? names.map((name) => name.toLowerCase()) : names);
}
