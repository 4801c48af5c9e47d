/** Makes a worktree. A kill at any moment leaves a state from which a second call continues. */
import { existsSync } from 'node:fs';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { AgentWorktree, Tree } from '../../model/worktree.ts';
import type { Exit, LaunchedProcess, RunProcesses } from '../process/index.ts';
import { tailIfReadable } from '../steps/file-text.ts';
import { removeEntry, removeRefLock } from './git-remains.ts';
import { inertConfig } from './inert-config.ts';
import { branchOf, gitEnvironment, MOST_TRIES, NEUTRAL_FOLDER } from './run-git.ts';
import { sharedFolder, treeOnDisk } from './tree-on-disk.ts';

export interface TreeToMake extends AgentWorktree {
  readonly tree: Tree;
  /** The directory of the child agent in the tree. */
  readonly cwd: string;
}

interface MakingPorts {
  readonly processes: Pick<RunProcesses, 'launch' | 'adopt'>;
  /** The folder for the process of git. */
  readonly record: string;
  /** Gets the process while it runs. */
  readonly onProcess: (git: LaunchedProcess) => void;
  readonly isStopped: () => boolean;
}

/** Throws if the tree cannot be made. */
export async function makeTree(wanted: TreeToMake, ports: MakingPorts): Promise<void> {
  const { path } = wanted.tree;
  for (let tries = 1; ; tries++) {
    // A process that was killed may have left git at work.
    const isRepeated = await finishEarlier(ports);
    const found = await treeOnDisk(path);
    if (found.kind === 'made') break;
    if (wanted.wasSeen) throw new Error(lost(wanted));
    // Where git was started, there was nothing before. It leaves a part if it dies while it cleans up.
    if (found.kind === 'strange' && !isRepeated)
      throw new Error(`${path} exists, but ${found.why}.`);
    if (found.kind === 'partial' || isRepeated) await removeRemains(wanted, 'killed');
    await rm(ports.record, { recursive: true, force: true });
    if (ports.isStopped()) throw new Error('stopped');
    const problem = await addTree(wanted, ports);
    if (problem === undefined) break;
    if (problem === 'killed' && !ports.isStopped() && tries < MOST_TRIES) continue;
    await removeRemains(wanted, problem);
    await rm(ports.record, { recursive: true, force: true });
    throw new Error(`git could not make the worktree ${path}: ${problem}`);
  }
  await rm(ports.record, { recursive: true, force: true });
  await checkDirectory(wanted);
}

/** Whether there was an earlier attempt. It is over now. */
async function finishEarlier({ processes, record, onProcess }: MakingPorts): Promise<boolean> {
  if (!existsSync(record)) return false;
  const left = processes.adopt(record);
  // Then it is unknown what is there.
  if (left === 'foreign') return false;
  if (left) {
    onProcess(left);
    needOurs(await left.ended);
    await left.endLeftovers();
  }
  return true;
}

/** Removes everything that an unfinished git has left. No agent has worked in it. */
async function removeRemains(
  { tree: { path, repository }, branch }: TreeToMake,
  problem: string,
): Promise<void> {
  const shared = await sharedFolder(repository);
  await rm(path, { recursive: true, force: true });
  await removeEntry(shared, path);
  // Otherwise git has removed its locks itself.
  if (problem === 'killed') await removeRefLock(shared, `refs/heads/${branch}`);
}

/** Gives the problem, if there is one: in the words of git, or that it was killed. */
async function addTree(
  { tree, branch }: TreeToMake,
  ports: MakingPorts,
): Promise<string | undefined> {
  const { path, base } = tree;
  const repository = existsSync(tree.repository)
    ? tree.repository
    : await sharedFolder(tree.repository);
  const config = await inertConfig(repository);
  const isBegun = await isBranchBegun(repository, tree, branch);
  await makeFolder(dirname(path));
  // Git would leave its mode to the umask.
  await mkdir(path, { recursive: true, mode: 0o700 });
  const target = isBegun ? [path, branch] : ['--no-track', '-b', branch, path, base];
  // Twice --force, because a killed git leaves a locked entry for this path.
  const args = ['--git-dir', repository, 'worktree', 'add', '--quiet', '--force', '--force'];
  const git = ports.processes.launch({
    folder: ports.record,
    command: 'git',
    args: [...args, ...target],
    cwd: NEUTRAL_FOLDER,
    env: { ...gitEnvironment(), ...config },
    stdin: 'none',
  });
  ports.onProcess(git);
  const exit = await git.ended;
  needOurs(exit);
  if (exit.kind === 'exited' && exit.code === 0) return undefined;
  // A git that was killed leaves the git that it has started.
  await git.endLeftovers();
  if (exit.kind === 'unknown' || (exit.kind === 'exited' && exit.code === KILLED)) return 'killed';
  return words(git, exit.kind === 'unstarted' ? exit.reason : exit.kind);
}

/** Another Raymond process may have adopted git. Then the tree is no longer ours. */
function needOurs({ kind }: Exit): void {
  if (kind === 'left') throw new Error('another process has taken the run');
}

/** The code that a shell reports for a child that SIGKILL has ended. */
const KILLED = 128 + 9;

/** Whether an earlier attempt has made the branch. Throws if the branch is not from one. */
async function isBranchBegun(
  repository: string,
  { path, base }: Tree,
  branch: string,
): Promise<boolean> {
  const found = await branchOf(repository, branch);
  if (!found) return false;
  const { tip, usedAt } = found;
  if (tip === base && (usedAt === '' || usedAt === path)) return true;
  throw new Error(`The branch ${branch} exists already${usedAt && `, and ${usedAt} uses it`}.`);
}

/** Only the user can read it, and git ignores it in the tree of the project. */
async function makeFolder(ofRun: string): Promise<void> {
  await mkdir(ofRun, { recursive: true, mode: 0o700 });
  await writeFile(join(dirname(ofRun), '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 }).catch(
    ifExists,
  );
}

function ifExists(error: unknown): void {
  if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return;
  throw error;
}

/** A sparse tree may lack it. */
async function checkDirectory({ cwd, tree }: TreeToMake): Promise<void> {
  const found = await stat(cwd).catch(() => undefined);
  if (found?.isDirectory()) return;
  throw new Error(`The worktree ${tree.path} has no folder ${cwd.slice(tree.path.length + 1)}.`);
}

function lost({ branch, tree: { path } }: TreeToMake): string {
  return `The worktree ${path} no longer exists. To restore the commits of its branch: git worktree add ${path} ${branch}`;
}

const LONGEST_MESSAGE = 2000;

function words({ stderr }: LaunchedProcess, otherwise: string): string {
  const said = tailIfReadable(stderr, LONGEST_MESSAGE).trim();
  const refused = /(?:smudge|clean) filter '?(.+?)'? failed/.exec(said)?.[1];
  const remedy =
    refused === undefined
      ? ''
      : `. Raymond runs no program that only the configuration of the repository names. If the filter is yours, define it in your own configuration: git config --global filter.${refused}.smudge ...`;
  return `${said || otherwise}${remedy}`;
}
