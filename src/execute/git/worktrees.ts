/**
 * INV-28: Raymond removes a worktree only if it has no work, or if a person agrees. It touches only
 * worktrees of the run, whatever the journal says.
 */
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../../model/message-of.ts';
import { type InTurn, oneAtATime } from '../../model/one-at-a-time.ts';
import type { Tree, Worktree } from '../../model/worktree.ts';
import { isBranchPart } from '../../parse/worktree-names.ts';
import type { Making, Worktrees } from '../../ports.ts';
import type { LaunchedProcess, RunProcesses } from '../process/index.ts';
import { findTree } from './find-tree.ts';
import { commitsAhead, lookAtTree } from './look-at-tree.ts';
import { makeTree, type TreeToMake } from './make-tree.ts';
import { removeBranch, removeTree } from './remove-tree.ts';
import { isObjectId } from './run-git.ts';
import { sharedFolder, treeOnDisk } from './tree-on-disk.ts';
import { unsavedWork } from './unsaved-work.ts';

interface WorktreesOfRun {
  readonly run: string;
  /** Where they are. */
  readonly folder: string;
  /** For the processes of git that make them. */
  readonly records: string;
  readonly processes: Pick<RunProcesses, 'launch' | 'adopt'>;
}

export function gitWorktrees(ofRun: WorktreesOfRun): Worktrees {
  const { run, folder } = ofRun;
  const own = (agent: string, worktree: Worktree) => ownTree(run, real(folder), agent, worktree);
  // Git locks parts of the repository, and the disk is the limit.
  const inTurn = oneAtATime();
  return {
    find: (directory, base) => findTree(directory, base, { run, folder: real(folder) }),
    make: (agent, worktree, cwd) =>
      making(ofRun, inTurn, agent, () => ({ ...worktree, tree: own(agent, worktree), cwd })),
    look: async (agent, worktree) => lookAtTree(own(agent, worktree), worktree.branch),
    remove: async (agent, worktree) => {
      try {
        // Git reads all worktrees of a repository, also one that is only half made.
        return await inTurn(() => removeIfUnused(own(agent, worktree), worktree.branch));
      } catch (error) {
        return messageOf(error);
      }
    },
  };
}

function making(
  { records, processes }: WorktreesOfRun,
  inTurn: InTurn,
  agent: string,
  wanted: () => TreeToMake,
): Making {
  const record = join(records, agent);
  let isStopped = false;
  let git: LaunchedProcess | undefined;
  const onProcess = (process: LaunchedProcess) => {
    git = process;
    if (isStopped) void git.stop();
  };
  const make = async () => {
    if (isStopped && !existsSync(record)) return 'stopped';
    await makeTree(wanted(), { processes, record, onProcess, isStopped: () => isStopped });
    return undefined;
  };
  const isMade = async () =>
    !existsSync(record) && (await treeOnDisk(wanted().tree.path)).kind === 'made';
  return {
    done: isMade()
      .then((is) => (is ? undefined : inTurn(make)))
      .catch(messageOf),
    stop() {
      isStopped = true;
      void git?.stop();
    },
  };
}

/** Gives the reason why the tree stays, if it does. */
async function removeIfUnused(tree: Tree, branch: string): Promise<string | undefined> {
  const { path, repository, base } = tree;
  const found = await treeOnDisk(path);
  if (found.kind === 'strange') return found.why;
  const work = await lookAtTree(tree, branch);
  if (work.dirty) return 'it has uncommitted changes';
  if (work.commits > 0) return 'it has commits';
  if (found.kind === 'made') {
    if (found.isLocked) return 'it is locked';
    // Git would not remove them either.
    if (existsSync(join(found.git, 'modules'))) return 'it has submodules';
    const [nested] = await unsavedWork(path, { known: path });
    if (nested) return `${nested.path} ${nested.why}`;
  }
  await removeTree(path, repository);
  const shared = await sharedFolder(repository);
  const isInBase = async (tip: string) => (await commitsAhead(shared, [tip], base)) === 0;
  await removeBranch(repository, branch, isInBase);
  return undefined;
}

/** With links resolved, as git records paths. The folder of the project exists. */
function real(folder: string): string {
  const ofAllRuns = dirname(folder);
  return join(realpathSync(dirname(ofAllRuns)), basename(ofAllRuns), basename(folder));
}

/** A journal may be of others, so the parts of a tree that lead to files are checked. */
function ownTree(run: string, folder: string, agent: string, { branch, tree }: Worktree): Tree {
  const prefix = `raymond/${run}/`;
  const isOwn =
    tree?.path === `${folder}/${agent}` &&
    isBranchPart(agent) &&
    branch.startsWith(prefix) &&
    isBranchPart(branch.slice(prefix.length)) &&
    isObjectId(tree.base);
  if (isOwn) return tree;
  throw new Error(`${tree?.path ?? branch} is not a worktree of ${agent} in ${run}`);
}
