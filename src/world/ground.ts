/** The facts about directories, files and variables that runs and tests of workflows need. */
import { lstat, realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { entryDigest } from '../execute/git/tree-content.ts';
import { type ProjectArea, projectArea } from '../files/project-area.ts';
import { isWithin } from '../files/regular-file.ts';
import type { DirectoryFact, Located } from '../model/input.ts';
import type { Ground, KeptFiles, WorkflowLibrary } from '../ports.ts';
import { homeFolder } from './config/user-folders.ts';
import { keepShown } from './shown-files.ts';

export interface Began {
  readonly cwd: string;
  readonly startedAt: number;
}

/** `tasks` contains the task folders of the run, in which its agents may also work. Without `kept`, no files are kept. */
export async function groundOf(
  began: Began,
  library: WorkflowLibrary,
  tasks: string,
  kept?: Pick<KeptFiles, 'keep'>,
): Promise<Ground> {
  const project = await projectArea(began.cwd, homeFolder());
  const inTask = (path: string) => path !== tasks && isWithin(tasks, path);
  const area: ProjectArea = {
    ...project,
    holds: async (path) => inTask(path) || project.holds(path),
  };
  return {
    findDirectory: (path, from) => findDirectory(path, from, area, began.startedAt),
    async lookAtWorkflow(ref) {
      const files = await Promise.all(library.filesOf(ref).map(lookAtFile));
      const inProject = await Promise.all(files.map(({ path }) => area.holds(path)));
      return {
        inProject: inProject.length > 0 && inProject.every(Boolean),
        unchanged: files.length > 0 && files.every(({ changedAt }) => changedAt <= began.startedAt),
      };
    },
    ...(kept && {
      keepFiles: (paths, from, whose) =>
        keepShown(paths, { from, whose, kept, inTask, root: project.root }),
    }),
    environment: environmentNames(),
    entryDigest,
  };
}

/** The result of a test must not depend on its user or on the change times of files. */
export async function testGround(cwd: string): Promise<Ground> {
  const area = await projectArea(cwd, homeFolder());
  return {
    findDirectory: (path, from) => findDirectory(path, from, area, Number.POSITIVE_INFINITY),
    lookAtWorkflow: async () => ({ inProject: true, unchanged: true }),
    environment: new Set(),
    entryDigest,
  };
}

async function findDirectory(
  path: string,
  from: string,
  area: ProjectArea,
  since: number,
): Promise<Located<DirectoryFact>> {
  const absolute = resolve(from, path);
  try {
    if (!(await stat(absolute)).isDirectory())
      return { found: false, problem: `${absolute} is not a directory.` };
    const real = await realpath(absolute);
    const inProject = await area.holds(real);
    const made = inProject ? await area.newRepository(real, since) : undefined;
    return { found: true, path: real, inProject, ...(made && { newRepository: made }) };
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

/** The names of the variables that the programs of a step inherit, in lower case. */
export function environmentNames(): ReadonlySet<string> {
  return new Set(Object.keys(process.env).map((name) => name.toLowerCase()));
}
