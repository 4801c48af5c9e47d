/** The folder of a project's runs: `.raymond/` and the paths in it. */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { notesIn } from '../files/notes-folder.ts';
import { isOwner, linkProblem, ownershipProblem } from '../files/ownership.ts';
import { refillFolder } from '../files/refill-folder.ts';
import { NOTE_RULES } from '../model/note-rules.ts';
import { shellWord } from '../model/shell-word.ts';
import { UserError } from '../model/user-error.ts';
import type { RunFolders } from '../ports.ts';
import { type Disk, hasCode, makeFolder, replaceFile } from './disk.ts';
import { cureOf, reasonOf } from './disk-errors.ts';

export interface Project {
  /** `.raymond` itself; it may not exist yet. */
  readonly folder: string;
  readonly stateFolder: string;
  readonly runsFolder: string;
  readonly debugFolder: string;
  readonly worktreesFolder: string;
  /** The agents' task folders. It belongs to the user and is outside of the project. */
  readonly tasksFolder: string;
  readonly configFile: string;
  /** A cache of summaries of unchanged runs. */
  readonly indexFile: string;
  /** A text that was computed from runs. */
  cacheFile(name: string): string;
}

/** The paths of a run. Only `src/journal` knows them. Other folders use the store and the workspace. */
export interface RunPaths {
  readonly stateFile: string;
  readonly journal: string;
  /** Contains the position of the journal's newest snapshot. */
  readonly pointer: string;
  readonly folder: string;
  readonly lock: string;
  readonly inbox: string;
  /** The publication of the owner of the run. */
  readonly now: string;
  /** Scripts of zip archives, unpacked. */
  readonly source: string;
  /** The files of workflows that the run keeps, because they are not where the workflows are. */
  readonly archives: string;
  /** The notes of an executor about sessions. */
  readonly sessions: string;
  /** The folders of all steps. */
  readonly steps: string;
  /** The task folders of the agents. They are not in `folder`, in which agents must not change anything. */
  readonly tasks: string;
  /** Where earlier versions kept them, and where they are if the user's folder cannot be written. */
  readonly ownTasks: string;
  /** The standard error of a background process. */
  readonly processLog: string;
  /** The git worktrees of the agents. */
  readonly worktrees: string;
  /** The processes of git that make worktrees. */
  readonly makings: string;
  /** The private indexes for the records of files. */
  readonly files: string;
  /** The files of questions and answers. */
  readonly kept: string;
  readonly folders: RunFolders;
}

/**
 * In a repository, the nearest `.raymond` from the working directory up to the folder that contains
 * `.git`, else next to `.git`. Without a repository, `.raymond` in the working directory: other users
 * could have created one further up. Creates nothing. Throws a UserError for a `.raymond` that others
 * can change. `state` is the folder of the user for files of Raymond.
 */
export async function findProject(
  disk: Disk,
  cwd: string,
  home: string,
  state: string,
): Promise<Project> {
  const start = resolve(cwd);
  const folder = (await inRepository(disk, start, home)) ?? join(start, '.raymond');
  const project = projectAt(folder, state);
  await checkProject(disk, project);
  return project;
}

/** The folder of a worker, which keeps runs of many projects. Throws a UserError if others can change it. */
export async function projectIn(disk: Disk, folder: string, state: string): Promise<Project> {
  const project = projectAt(resolve(folder), state);
  await checkProject(disk, project);
  return project;
}

/** Creates the folders for runs, or throws a UserError. Prompts may contain secrets, so git ignores them and others cannot read them. */
export async function makeProject(disk: Disk, project: Project): Promise<void> {
  try {
    await makeFolder(disk, project.stateFolder);
    await makeFolder(disk, project.runsFolder);
    const { folder, stateFolder, runsFolder, debugFolder } = project;
    for (const path of [folder, stateFolder, runsFolder, debugFolder]) await tighten(disk, path);
    const ignoreFile = join(project.folder, '.gitignore');
    if (!(await disk.kind(ignoreFile))) await replaceFile(disk, ignoreFile, GIT_IGNORE);
    await disk.checkWritable(project.stateFolder);
  } catch (error) {
    throw unwritable(project.folder, error);
  }
}

/** The directory of the project that a journal belongs to; undefined for the journals of a worker. */
export function directoryOf(journal: string): string | undefined {
  const folder = dirname(dirname(journal));
  return basename(folder) === '.raymond' ? dirname(folder) : undefined;
}

/** Throws a UserError if the folder of a run is a link. */
export async function checkRunFolder(disk: Disk, { folder }: RunPaths): Promise<void> {
  if ((await disk.look(folder))?.kind === 'link') throw isLink(folder, 'folder');
}

export function runPaths(project: Project, run: string): RunPaths {
  // Not `join`: a survey asks for the paths of all runs.
  const folder = `${project.runsFolder}${sep}${run}`;
  const [state, own] = [`${project.stateFolder}${sep}${run}`, `${folder}${sep}`];
  const [steps, ownTasks] = [`${own}steps`, `${own}tasks`];
  const tasks = `${project.tasksFolder}${sep}${run}`;
  const step: RunFolders['step'] = (agent, number) =>
    join(steps, folderName(agent), String(number));
  const task: RunFolders['task'] = (agent) => {
    const name = folderName(agent);
    return taskFolder(join(tasks, name), join(ownTasks, name));
  };
  const hasBegun: RunFolders['hasBegun'] = (agent, number) => existsSync(step(agent, number));
  const put: RunFolders['put'] = (agent, into, files) => {
    const named = [...files].map(([name, content]) => [folderName(name), content] as const);
    refillFolder(join(task(agent), into), new Map(named));
  };
  return {
    stateFile: `${state}.json`,
    journal: `${state}.jsonl`,
    pointer: `${state}.snapshot`,
    folder,
    lock: `${own}lock`,
    inbox: `${own}inbox`,
    now: `${own}now`,
    source: `${own}source`,
    archives: `${own}archives`,
    sessions: `${own}sessions`,
    steps,
    tasks,
    ownTasks,
    processLog: `${own}process.log`,
    worktrees: join(project.worktreesFolder, run),
    makings: join(folder, 'worktrees'),
    files: join(folder, 'files'),
    kept: `${own}kept`,
    folders: { step, hasBegun, task, put, notes: notesIn(task, NOTE_RULES) },
  };
}

/** Creates the folder, or moves the one of an earlier version. */
function taskFolder(folder: string, earlier: string): string {
  try {
    const found = lstatSync(folder, { throwIfNoEntry: false });
    if (found?.isDirectory()) return folder;
    // An agent may have moved its folder, and put something else in its place.
    if (found) rmSync(folder);
    mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
    const isMoved = lstatSync(earlier, { throwIfNoEntry: false })?.isDirectory() === true;
    if (isMoved) move(earlier, folder);
    else mkdirSync(folder, { mode: 0o700 });
    return folder;
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR')) throw error;
    // A user without a home. Scripts can use this folder, agents cannot.
    mkdirSync(earlier, { recursive: true, mode: 0o700 });
    return earlier;
  }
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
    const draft = `${to}.moving`;
    rmSync(draft, { recursive: true, force: true });
    cpSync(from, draft, { recursive: true, verbatimSymlinks: true });
    renameSync(draft, to);
    rmSync(from, { recursive: true, force: true });
  }
}

/** The debug folder of a run that starts or resumes at this time. */
export function debugFolder({ debugFolder: folder }: Project, run: string, at: Date): string {
  const two = (n: number) => String(n).padStart(2, '0');
  const day = `${at.getFullYear()}${two(at.getMonth() + 1)}${two(at.getDate())}`;
  const time = `${two(at.getHours())}${two(at.getMinutes())}${two(at.getSeconds())}`;
  return join(folder, `${run}_${day}_${time}`);
}

export function isDebugFolderOf(name: string, run: string): boolean {
  return name.startsWith(run) && /^_\d{8}_\d{6}$/.test(name.slice(run.length));
}

const GIT_IGNORE = `# Runs may contain secrets. Only the configuration is shared.
*
!config.toml
`;

function projectAt(folder: string, state: string): Project {
  return {
    folder,
    stateFolder: join(folder, 'state'),
    runsFolder: join(folder, 'runs'),
    debugFolder: join(folder, 'debug'),
    worktreesFolder: join(folder, 'worktrees'),
    tasksFolder: join(state, 'tasks', keyOf(folder)),
    configFile: join(folder, 'config.toml'),
    indexFile: join(folder, 'index'),
    cacheFile: (name) => join(folder, `cache-${name}`),
  };
}

/** A name for the project in folders of the user: readable, and different for each path. */
function keyOf(folder: string): string {
  const name = basename(dirname(folder))
    .replace(/[^\w.-]/g, '_')
    .slice(0, 40);
  return `${name}-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`;
}

/** The path of `.raymond` if the working directory is in a repository of the user. It may not exist. */
async function inRepository(disk: Disk, start: string, home: string): Promise<string | undefined> {
  const device = (await disk.look(start))?.device;
  let nearest: string | undefined;
  for (let folder = start; ; folder = dirname(folder)) {
    if (folder !== start) {
      const seen = await disk.look(folder);
      const isOwn = seen !== undefined && isOwner(seen.uid);
      if (!isOwn || seen.device !== device || folder === home) return undefined;
    }
    const here = join(folder, '.raymond');
    if (nearest === undefined && (await disk.look(here))) nearest = here;
    const git = await disk.look(join(folder, '.git'));
    // The sandbox of an agent may leave an empty folder of this name in the folder for temporary files.
    if (git && (git.kind !== 'folder' || (await disk.look(join(folder, '.git', 'HEAD')))))
      return isOwner(git.uid) ? (nearest ?? here) : undefined;
    if (folder === dirname(folder)) return undefined;
  }
}

/** Only this function decides whether Raymond trusts the folder `.raymond`. */
async function checkProject(disk: Disk, project: Project): Promise<void> {
  const { folder, stateFolder, runsFolder, debugFolder, worktreesFolder, configFile } = project;
  for (const path of [folder, stateFolder, runsFolder, worktreesFolder])
    await checkPart(disk, project, path, 'folder');
  // Without a debug folder, a run only says so.
  if ((await disk.look(debugFolder))?.kind !== 'file')
    await checkPart(disk, project, debugFolder, 'folder');
  await checkPart(disk, project, configFile, 'file');
}

async function checkPart(
  disk: Disk,
  { folder }: Project,
  path: string,
  kind: 'folder' | 'file',
): Promise<void> {
  const seen = await disk.look(path);
  if (!seen) return;
  if (seen.kind === 'link') throw isLink(path, kind);
  if (seen.kind !== kind) throw kind === 'folder' ? notAFolder(path) : notAFile(path);
  const refuse = (problem: string, remedy: string) =>
    new UserError('project-of-others', `Raymond does not use ${path}: ${problem}.`, remedy, {
      file: path,
    });
  const problem = ownershipProblem(seen);
  if (problem !== undefined)
    throw refuse(
      problem,
      isOwner(seen.uid)
        ? `If you trust its content: chmod -R go-w ${shellWord(folder)}`
        : 'Work in a folder that belongs to you.',
    );
  const second = kind === 'file' ? linkProblem(path, () => lstatSync(path)) : undefined;
  if (second !== undefined)
    throw refuse(second, 'Check its content, then replace it with a copy (cp it, mv it back).');
}

/** Removes the permissions of other users. */
async function tighten(disk: Disk, path: string): Promise<void> {
  const seen = await disk.look(path);
  if (seen && seen.uid === process.getuid?.() && (seen.mode & 0o077) !== 0)
    await disk.chmod(path, 0o700);
}

const MAX_NAME_BYTES = 200;

/**
 * An agent's name grows with each nested fork, and the length of a file name is limited. Names come from
 * events, which others may be able to write, so no name leads out of its folder.
 */
function folderName(agent: string): string {
  const isName = !/[/\\\0]|^\.{0,2}$/.test(agent);
  if (isName && Buffer.byteLength(agent) <= MAX_NAME_BYTES) return agent;
  const hash = createHash('sha256').update(agent).digest('hex').slice(0, 16);
  return `${isName ? agent.slice(0, 40) : 'agent'}-${hash}`;
}

function isLink(path: string, kind: string): UserError {
  return new UserError(
    'project-link',
    `${path} is a link, which could lead Raymond to files of another user.`,
    `Remove the link, or replace it with a ${kind}.`,
    { file: path },
  );
}

function notAFolder(path: string): UserError {
  return new UserError(
    'project-not-a-folder',
    `${path} is a file, but Raymond needs a folder with this name.`,
    'Rename or remove the file.',
    { file: path },
  );
}

function notAFile(path: string): UserError {
  return new UserError(
    'project-not-a-file',
    `${path} is not a regular file.`,
    'Rename or remove it.',
    { file: path },
  );
}

function unwritable(folder: string, error: unknown): UserError {
  return new UserError(
    'project-unwritable',
    `Raymond cannot save runs in ${folder}: ${reasonOf(error)}.`,
    `${cureOf(error)}, or start Raymond in another folder.`,
    { file: folder },
  );
}
