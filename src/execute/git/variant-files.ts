/**
 * The files of variants of a run, on branches of their own. A variant begins at a commit with the files that
 * the run had at a moment, and its files are committed when it is over, so that an ordinary merge adopts
 * them. HEAD, the index and the branches of the user's working tree stay as they are.
 */

import { existsSync } from 'node:fs';
import { readRegularFile } from '../../files/regular-file.ts';
import type { ChangedLines } from '../../model/variant.ts';
import type { FileHistory } from '../../ports.ts';
import { refsOf } from './file-history.ts';
import { inertConfig } from './inert-config.ts';
import { gitFolders, isObjectId, runGit, tipOf } from './run-git.ts';
import { sharedFolder, treeOnDisk } from './tree-on-disk.ts';

export interface FilesAtMoment {
  /** The run that has stored them. */
  readonly run: string;
  /** The root of a working tree. */
  readonly root: string;
  /** The stored files. */
  readonly tree: string;
  readonly at: number;
  readonly message: string;
  /** Of a worktree that may have been removed: its folder of git, and the commit from which it began. */
  readonly removed?: { readonly repository: string; readonly base: string } | undefined;
}

export interface BranchPoint {
  readonly repository: string;
  readonly base: string;
}

/** Makes a commit with stored files. Equal facts give the same commit. */
export async function commitStored(files: FilesAtMoment): Promise<BranchPoint> {
  const { run, root, tree, at, removed } = files;
  if (!isObjectId(tree)) throw new Error(`${tree} is not the id of files`);
  const isThere = existsSync(`${root}/.git`);
  if (!isThere && !removed) throw new Error(`${root} no longer exists`);
  const { own, shared } = isThere
    ? await gitFolders('-C', root)
    : await gitFolders('--git-dir', await existing(removed?.repository ?? ''));
  // A journal may be of others, so only what was recorded for the run is used.
  const ref = ['--git-dir', shared, 'rev-parse', '--verify', '--quiet', `${refsOf(run)}${tree}`];
  if ((await runGit({ args: ref }).catch(() => '')).trim() !== tree)
    throw new Error('their record is not in the repository of this machine');
  const parent = (isThere && (await headAt(own, at))) || removed?.base || (await headOf(own));
  if (parent === undefined)
    throw new Error(
      `its repository has no commit yet, so there is nothing to merge a variant with`,
    );
  const base = await commit(shared, { ...files, parent });
  return { repository: own, base };
}

/**
 * A commit with stored files that others can name later: the commit from which they came, if they are equal,
 * or else one that this repository keeps.
 */
export async function commitOfMoment(
  files: FilesAtMoment,
): Promise<{ readonly commit: string; readonly isKept: boolean }> {
  const { repository, base } = await commitStored(files);
  const shared = await sharedFolder(repository);
  const asked = ['--git-dir', shared, 'rev-parse', `${base}^`, `${base}^^{tree}`];
  const [parent = '', tree] = (await runGit({ args: asked })).split('\n');
  if (tree === files.tree && isObjectId(parent)) return { commit: parent, isKept: false };
  const env = await inertConfig(shared);
  const keep = ['--git-dir', shared, 'update-ref', `refs/raymond-cases/${base}`, base];
  await runGit({ args: keep, env });
  return { commit: base, isKept: true };
}

/** A worktree that was removed had its own folder in that of the repository. */
async function existing(repository: string): Promise<string> {
  return existsSync(repository) ? repository : sharedFolder(repository);
}

interface Committed {
  readonly tree: string;
  readonly parent: string;
  readonly at: number;
  readonly message: string;
}

async function commit(shared: string, { tree, parent, at, message }: Committed): Promise<string> {
  const date = new Date(at).toISOString();
  const author = Object.fromEntries(
    ['AUTHOR', 'COMMITTER'].flatMap((who) => [
      [`GIT_${who}_NAME`, 'Raymond'],
      [`GIT_${who}_EMAIL`, 'raymond@localhost'],
      [`GIT_${who}_DATE`, date],
    ]),
  );
  const told = await runGit({
    args: ['--git-dir', shared, 'commit-tree', '-p', parent, '-F', '-', tree],
    input: `${message}\n`,
    env: { ...(await inertConfig(shared)), ...author },
  });
  return told.trim();
}

/**
 * Where HEAD was before a time, as its log says. The log counts seconds, so a move in the same second is
 * taken for a later one: an older commit gives the same merge. The first commit has none before it.
 */
async function headAt(own: string, at: number): Promise<string | undefined> {
  const log = await readRegularFile(`${own}/logs/HEAD`, MOST_LOG_BYTES).catch(() => undefined);
  if (!log) return undefined;
  const second = Math.floor(at / 1000);
  let before: string | undefined;
  let first: string | undefined;
  for (const line of log.toString('utf8').split('\n')) {
    const [, from = '', to = '', time = ''] = /^(\S+) (\S+) .*?> (\d+) /.exec(line) ?? [];
    if (to === '') continue;
    first ??= isNothing(from) ? to : from;
    if (Number(time) < second) before = to;
  }
  const found = before ?? first;
  if (found === undefined || !isObjectId(found) || isNothing(found)) return undefined;
  const isThere = runGit({ args: ['--git-dir', own, 'cat-file', '-e', `${found}^{commit}`] });
  return isThere.then(
    () => found,
    () => undefined,
  );
}

/** The id that git writes where there was no commit. */
const isNothing = (id: string) => /^0+$/.test(id);

const MOST_LOG_BYTES = 64 * 1024 * 1024;

async function headOf(own: string): Promise<string | undefined> {
  const asked = ['--git-dir', own, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}'];
  const told = await runGit({ args: asked }).catch(() => '');
  return isObjectId(told.trim()) ? told.trim() : undefined;
}

/**
 * Commits what a worktree of a variant has on the branch that it has checked out. Gives false if there is
 * nothing to commit. The worktree belongs to the variant, and no step works in it.
 */
export async function commitWorktree(
  files: Pick<FileHistory, 'record'>,
  path: string,
  branch: string,
  message: string,
): Promise<boolean> {
  const found = await treeOnDisk(path);
  if (found.kind !== 'made') return false;
  const { own, shared } = await gitFolders('-C', path);
  const where = ['-C', path, '--git-dir', own, '--work-tree', path];
  const named = await runGit({ args: [...where, 'symbolic-ref', '--quiet', 'HEAD'] }).catch(
    () => '',
  );
  // The agent has left the branch, and knows why.
  if (named.trim() !== `refs/heads/${branch}`) return false;
  const parent = await headOf(own);
  if (parent === undefined) return false;
  const tree = await files.record(path);
  const asked = ['--git-dir', own, 'rev-parse', '--verify', `${parent}^{tree}`];
  if ((await runGit({ args: asked })).trim() === tree) return false;
  const made = await commit(shared, { tree, parent, at: Date.now(), message });
  const env = await inertConfig(own);
  await runGit({
    args: [...where, 'update-ref', '-m', message, `refs/heads/${branch}`, made, parent],
    env,
  });
  await runGit({ args: [...where, 'read-tree', made], env });
  await runGit({ args: [...where, 'update-index', '-q', '--refresh'], env }).catch(() => '');
  return true;
}

interface Changed {
  readonly lines: ChangedLines;
  /** The worktree, if it exists. */
  readonly worktree: string | undefined;
}

type TreeOfVariant = BranchPoint & { readonly path: string };

/** What a variant has changed since it began. A worktree without changes may have been removed. */
export async function changedSince(
  { repository, base, path }: TreeOfVariant,
  branch: string,
  files: Pick<FileHistory, 'record'>,
): Promise<Changed> {
  const shared = await sharedFolder(repository);
  const isMade = (await treeOnDisk(path)).kind === 'made';
  const tip = isMade ? await files.record(path) : await tipSince(shared, base, branch);
  const worktree = isMade ? path : undefined;
  if (tip === undefined) return { lines: { files: 0, added: 0, removed: 0 }, worktree };
  const told = await runGit({
    args: ['--git-dir', shared, 'diff-tree', '-r', '--numstat', '-z', '--no-renames', base, tip],
    env: await inertConfig(shared),
    isBinary: true,
  });
  const rows = told.split('\0').filter((row) => row !== '');
  const sum = (column: number) =>
    rows.reduce((all, row) => all + (Number(row.split('\t')[column]) || 0), 0);
  return { lines: { files: rows.length, added: sum(0), removed: sum(1) }, worktree };
}

/** The branch of a variant, if it has a commit of the variant. */
export async function mergeableBranch(
  { repository, base }: TreeOfVariant,
  branch: string,
): Promise<string | undefined> {
  const shared = await sharedFolder(repository);
  const tip = await tipSince(shared, base, branch).catch(() => undefined);
  return tip === undefined || tip === base ? undefined : branch;
}

/** The newest commit of a branch that began at the base. A branch of this name can also be of a person. */
async function tipSince(shared: string, base: string, branch: string): Promise<string | undefined> {
  const tip = await tipOf(shared, branch);
  if (tip === undefined) return undefined;
  const asked = ['--git-dir', shared, 'merge-base', '--is-ancestor', base, tip];
  return runGit({ args: asked }).then(
    () => tip,
    () => undefined,
  );
}
