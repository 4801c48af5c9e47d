/** The worktrees that a run has left, for their removal with the run. */
import { realpathSync } from 'node:fs';
import { readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../model/message-of.ts';
import type { Run } from '../../model/run.ts';
import { treeStatus } from './look-at-tree.ts';
import { isAside, removeBranch, removeTree } from './remove-tree.ts';
import { runGit, tipOf } from './run-git.ts';
import { sharedFolder, type TreeOnDisk, treeOnDisk } from './tree-on-disk.ts';
import { type UnsavedWork, unsavedWork } from './unsaved-work.ts';

export interface LeftTree {
  readonly path: string;
  readonly found: TreeOnDisk;
  /** The branches of the run that the tree has or had. */
  readonly branches: readonly string[];
  /** The work that would be lost with it. */
  readonly work: readonly UnsavedWork[];
}

/** `run`: undefined if its journal cannot be read. Then only the trees show their branches. */
export async function leftTrees(
  worktrees: string,
  id: string,
  run: Run | undefined,
): Promise<readonly LeftTree[]> {
  const folder = realpathSync(worktrees);
  const recorded = run ? recordedBranches(run) : new Map<string, string>();
  const trees: LeftTree[] = [];
  for (const name of await readdir(folder)) {
    if (isAside(name)) continue;
    const path = join(folder, name);
    trees.push(await leftTree(path, `raymond/${id}/`, recorded.get(path)));
  }
  return trees;
}

/** Removes a tree with its branches. If the work may not be lost, a branch with work stays. */
export async function removeLeftTree(
  { path, found, branches }: LeftTree,
  id: string,
  mayLoseWork: boolean,
): Promise<void> {
  if (found.kind !== 'made') return rm(path, { recursive: true, force: true });
  const shared = await sharedFolder(found.git);
  await removeTree(path, shared);
  for (const branch of branches)
    await removeBranch(
      shared,
      branch,
      async (tip) => mayLoseWork || (await isElsewhere(shared, tip, `raymond/${id}/`)),
    );
}

/** Removes what killed processes left, and the folder if it is empty. */
export async function clearFolder(worktrees: string): Promise<void> {
  const names = await readdir(worktrees).catch(() => []);
  for (const name of names.filter(isAside))
    await rm(join(worktrees, name), { recursive: true, force: true });
  await rmdir(worktrees).catch(() => {});
}

function recordedBranches(run: Run): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const agents of [run.agents, run.endedAgents])
    for (const [, { worktree }] of agents)
      if (worktree?.tree) found.set(worktree.tree.path, worktree.branch);
  return found;
}

async function leftTree(
  path: string,
  prefix: string,
  recorded: string | undefined,
): Promise<LeftTree> {
  const found = await treeOnDisk(path);
  const known = recorded === undefined ? [] : [recorded];
  if (found.kind === 'strange')
    return { path, found, branches: [], work: [{ path, why: `cannot be checked (${found.why})` }] };
  if (found.kind !== 'made') return { path, found, branches: [], work: [] };
  try {
    const { head, current, isChanged } = await treeStatus(found.git, path);
    const own = current?.startsWith(prefix) ? [current] : [];
    const branches = [...new Set([...known, ...own])];
    if (isChanged)
      return { path, found, branches, work: [{ path, why: 'has uncommitted changes' }] };
    const commits = await unsavedCommits(found.git, head, branches, prefix);
    const nested = await unsavedWork(path, { known: path, also: found.git });
    return { path, found, branches, work: [...commits.map((why) => ({ path, why })), ...nested] };
  } catch (error) {
    const why = messageOf(error);
    return { path, found, branches: known, work: [{ path, why: `cannot be checked (${why})` }] };
  }
}

async function unsavedCommits(
  git: string,
  head: readonly string[],
  branches: readonly string[],
  prefix: string,
): Promise<readonly string[]> {
  const shared = await sharedFolder(git);
  const work: string[] = [];
  const tips = new Set<string>();
  for (const branch of branches) {
    const tip = await tipOf(shared, branch);
    if (tip === undefined) continue;
    tips.add(tip);
    if (!(await isElsewhere(shared, tip, prefix)))
      work.push(`has commits that only its branch ${branch} has`);
  }
  for (const tip of head) {
    if (!tips.has(tip) && !(await isElsewhere(shared, tip, prefix)))
      work.push('has commits that exist nowhere else');
  }
  return work;
}

/** Whether another branch, a tag or a remote has a commit. Branches of the run do not count. */
async function isElsewhere(shared: string, commit: string, prefix: string): Promise<boolean> {
  const where = ['refs/heads', 'refs/tags', 'refs/remotes'];
  const args = ['for-each-ref', '--contains', commit, '--format=%(refname)', ...where];
  const refs = (await runGit({ args: ['--git-dir', shared, ...args] })).trimEnd().split('\n');
  return refs.some((ref) => ref !== '' && !ref.startsWith(`refs/heads/${prefix}`));
}
