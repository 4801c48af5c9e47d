/** The command files of a folder that a step may write: which ones are kept, and which ones it made. */
import { lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { COMMAND_FILES, isPlaceholder } from '../../files/command-files.ts';
import { attempt } from '../../model/attempt.ts';

const NAMES = COMMAND_FILES.filter((name) => name !== '.git');

/** Those at the top of a folder, and those of its repository. */
export function commandFilesIn(root: string): readonly string[] {
  const names = new Set(attempt(() => readdirSync(root)) ?? []);
  const files = NAMES.filter((name) => names.has(name));
  const own = repositoryIn(root, names);
  const git = own === undefined ? [] : gitCommandFiles(own);
  return [...files.map((name) => join(root, name)), ...git];
}

const repositoryIn = (root: string, names: ReadonlySet<string>) =>
  basename(root) === '.git' ? root : names.has('.git') ? join(root, '.git') : undefined;

/** In a repository, git reads commands from these. In a worktree, `.git` is a file and leads to the repository. */
function gitCommandFiles(git: string): readonly string[] {
  if (!(attempt(() => lstatSync(git).isDirectory()) ?? false)) return [git];
  // Only what exists can be kept as it is.
  for (const name of ['hooks', 'info'])
    attempt(() => mkdirSync(join(git, name), { recursive: true }));
  return ['config', ...LATER_IN_GIT].map((name) => join(git, name));
}

const FOLDERS_IN_GIT: readonly string[] = ['hooks', 'info', 'modules', 'worktrees'];
const LATER_IN_GIT: readonly string[] = ['config.worktree', 'commondir', ...FOLDERS_IN_GIT];

/**
 * Those that came into being since a moment. No mount can keep a file from being created, but the person has
 * to know about it. What existed before is read-only for the step, so its time shows that it is new.
 */
export function newCommandFilesIn(root: string, sinceMs: number): readonly string[] {
  const names = new Set(attempt(() => readdirSync(root)) ?? []);
  const files = NAMES.filter((name) => names.has(name)).map((name) => join(root, name));
  const isNew = (path: string, time: 'ctimeMs' | 'birthtimeMs') => {
    const found = attempt(() => lstatSync(path));
    return found !== undefined && Number(found[time]) >= sinceMs && !isPlaceholder(path, found);
  };
  const made = files.filter((path) => isNew(path, 'ctimeMs'));
  const git = repositoryIn(root, names);
  if (git === undefined) return made;
  // Git changes the times of these folders whenever it works in them.
  if (git !== root && isNew(git, 'birthtimeMs')) return [...made, git];
  const inGit = LATER_IN_GIT.filter((name) =>
    isNew(join(git, name), FOLDERS_IN_GIT.includes(name) ? 'birthtimeMs' : 'ctimeMs'),
  );
  return [...made, ...inGit.map((name) => join(git, name))];
}
