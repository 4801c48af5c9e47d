/** Where a project's runs are kept: `.raymond/` and the paths in it. */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UserError } from '../model/user-error.ts';
import type { RunFolders } from '../ports.ts';
import { type Disk, makeFolder, replaceFile } from './disk.ts';
import { cureOf, reasonOf } from './disk-errors.ts';

export interface Project {
  /** `.raymond` itself; it may not exist yet. */
  readonly folder: string;
  readonly stateFolder: string;
  readonly runsFolder: string;
  readonly debugFolder: string;
  readonly configFile: string;
}

export interface RunPaths {
  readonly stateFile: string;
  readonly journal: string;
  /** Hint at the journal's newest snapshot. */
  readonly pointer: string;
  readonly folder: string;
  readonly lock: string;
  readonly inbox: string;
  /** Scripts of zip archives, unpacked. */
  readonly source: string;
  readonly folders: RunFolders;
}

/**
 * The nearest `.raymond` upward, not beyond the folder that holds `.git`. Where there is none, it
 * belongs beside `.git`, or into the working directory. Makes nothing: looking leaves no traces.
 */
export async function findProject(disk: Disk, cwd: string): Promise<Project> {
  const start = resolve(cwd);
  for (let folder = start; ; folder = dirname(folder)) {
    const here = join(folder, '.raymond');
    const kind = await disk.kind(here);
    if (kind === 'file') throw notAFolder(here);
    const isTop = (await disk.kind(join(folder, '.git'))) !== undefined;
    if (kind === 'folder' || isTop) return projectAt(here);
    if (folder === dirname(folder)) return projectAt(join(start, '.raymond'));
  }
}

/** Makes what a run needs, or throws a UserError. Prompts may hold secrets: git is kept away. */
export async function makeProject(disk: Disk, project: Project): Promise<void> {
  try {
    await makeFolder(disk, project.stateFolder);
    await makeFolder(disk, project.runsFolder);
    const ignoreFile = join(project.folder, '.gitignore');
    if (!(await disk.kind(ignoreFile))) await replaceFile(disk, ignoreFile, GIT_IGNORE);
    await disk.checkWritable(project.stateFolder);
  } catch (error) {
    throw unwritable(project.folder, error);
  }
}

export function runPaths(project: Project, run: string): RunPaths {
  const folder = join(project.runsFolder, run);
  return {
    stateFile: join(project.stateFolder, `${run}.json`),
    journal: join(project.stateFolder, `${run}.jsonl`),
    pointer: join(project.stateFolder, `${run}.snapshot`),
    folder,
    lock: join(folder, 'lock'),
    inbox: join(folder, 'inbox'),
    source: join(folder, 'source'),
    folders: {
      step: (agent, number) => join(folder, 'steps', folderName(agent), String(number)),
      task(agent) {
        const task = join(folder, 'tasks', folderName(agent));
        mkdirSync(task, { recursive: true, mode: 0o700 });
        return task;
      },
    },
  };
}

const GIT_IGNORE = `# Runs may hold secrets; only the configuration is for everybody.
*
!.gitignore
!config.toml
`;

function projectAt(folder: string): Project {
  return {
    folder,
    stateFolder: join(folder, 'state'),
    runsFolder: join(folder, 'runs'),
    debugFolder: join(folder, 'debug'),
    configFile: join(folder, 'config.toml'),
  };
}

const MAX_NAME_BYTES = 200;

/** An agent's name grows with every fork in a fork, and a file name has its limit. */
function folderName(agent: string): string {
  if (Buffer.byteLength(agent) <= MAX_NAME_BYTES) return agent;
  const hash = createHash('sha256').update(agent).digest('hex').slice(0, 16);
  return `${agent.slice(0, 40)}-${hash}`;
}

function notAFolder(path: string): UserError {
  return new UserError(
    'project-not-a-folder',
    `${path} is a file, but Raymond keeps its runs in a folder of that name.`,
    'Rename or remove the file.',
  );
}

function unwritable(folder: string, error: unknown): UserError {
  return new UserError(
    'project-unwritable',
    `Runs cannot be kept in ${folder}: ${reasonOf(error)}.`,
    `${cureOf(error)}, or start Raymond in another folder.`,
  );
}
