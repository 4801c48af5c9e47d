/**
 * The project of a run: the repository or folder in which the run started, and the other worktrees
 * of that repository. An agent may choose any directory in it, except the folders of git and of
 * Raymond.
 *
 * Raymond does not call git here: an agent may have written git's configuration, which can name
 * programs to run.
 */
import { existsSync } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { firstLine, linkedFolder, namedByGitFile } from './git-file.ts';
import { isOwner } from './ownership.ts';
import { isWithin } from './regular-file.ts';

export interface ProjectArea {
  readonly root: string;
  /** Whether a real path is in the project. */
  holds(path: string): Promise<boolean>;
  /**
   * The nearest repository that contains a real path of the project, if it is not the project's own one and was
   * made or configured after this time.
   */
  newRepository(path: string, since: number): Promise<string | undefined>;
}

/** `home`: the search for a repository ends there, because folders above belong to the whole account. */
export async function projectArea(began: string, home: string): Promise<ProjectArea> {
  const start = await realpath(began).catch(() => resolve(began));
  const repository = await repositoryOf(start, home);
  const root = repository?.top ?? start;
  return {
    root,
    async holds(path) {
      if (isWithin(root, path)) return !isReserved(root, path);
      if (!repository) return false;
      const other = await repositoryOf(path, home);
      return other?.common === repository.common && !isReserved(other.top, path);
    },
    async newRepository(path, since) {
      for (let folder = path; folder !== root; folder = dirname(folder)) {
        const control = await controlFolder(folder);
        if (control !== undefined)
          return (await isOwn(control)) || (await isOlder(control, since)) ? undefined : folder;
        if (folder === dirname(folder)) return undefined;
      }
      return undefined;
    },
  };

  /** A worktree or a submodule of the project: its configuration is in the project's own `.git`. */
  async function isOwn(control: string): Promise<boolean> {
    return repository !== undefined && isWithin(repository.common, await namedFolder(control));
  }
}

/** The file or folder with the configuration of a repository; undefined for other folders. */
async function controlFolder(folder: string): Promise<string | undefined> {
  const has = (name: string) => lstat(join(folder, name)).catch(() => undefined);
  if (await has('.git')) return join(folder, '.git');
  const parts = await Promise.all(['HEAD', 'objects', 'refs'].map(has));
  return parts.every((part) => part !== undefined) ? folder : undefined;
}

/** A change time cannot be set back, and a file that is moved has a new one. */
async function isOlder(control: string, since: number): Promise<boolean> {
  const folder = await namedFolder(control);
  const files = [
    ...(folder === control ? [] : [control]),
    join(folder, 'HEAD'),
    join(folder, 'config'),
  ];
  const times = files.map(async (file) => (await lstat(file).catch(() => undefined))?.ctimeMs ?? 0);
  return (await Promise.all(times)).every((time) => time <= since);
}

/** The folder that a `.git` file names. */
async function namedFolder(control: string): Promise<string> {
  try {
    const isFile = (await lstat(control)).isFile();
    return await (isFile ? namedByGitFile(control) : realpath(control));
  } catch {
    return control;
  }
}

interface Repository {
  /** The folder that contains `.git`. */
  readonly top: string;
  /** The folder that all worktrees of the repository share. */
  readonly common: string;
}

async function repositoryOf(path: string, home: string): Promise<Repository | undefined> {
  for (let top = path; ; top = dirname(top)) {
    if (top === home && top !== path) return undefined;
    const git = join(top, '.git');
    const found = await lstat(git).catch(() => undefined);
    if (found && !isOwner(found.uid)) return undefined;
    const isRepository = found?.isDirectory() && existsSync(join(git, 'HEAD'));
    if (isRepository) return { top, common: await realpath(git) };
    if (found?.isFile()) return { top, common: await commonFolder(git) };
    if (top === dirname(top)) return undefined;
  }
}

/** A worktree's `.git` is a file that names a folder in the repository. That folder names the worktree. */
async function commonFolder(git: string): Promise<string> {
  const own = await linkedFolder(git);
  if (own === undefined) return git;
  const common = firstLine(join(own, 'commondir')).then((named) => realpath(resolve(own, named)));
  return common.catch(() => git);
}

/** In `.raymond`, agents may work only in worktrees. */
function isReserved(root: string, path: string): boolean {
  const parts = relative(root, path).toLowerCase().split(sep);
  if (parts.includes('.git')) return true;
  const at = parts.indexOf('.raymond');
  if (at < 0) return false;
  const [kind, , third] = parts.slice(at + 1);
  return kind !== 'worktrees' || third === undefined;
}
