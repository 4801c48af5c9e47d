import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { forgetFiles } from '../../execute/git/file-history.ts';
import {
  clearFolder,
  type LeftTree,
  leftTrees,
  removeLeftTree,
} from '../../execute/git/left-trees.ts';
import { lostTrees } from '../../execute/git/lost-trees.ts';
import { type UnsavedWork, unsavedWork } from '../../execute/git/unsaved-work.ts';
import { foldersWithProcesses } from '../../execute/process/index.ts';
import { conditionOf } from '../../model/condition.ts';
import { shellWord } from '../../model/shell-word.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { readDuration } from '../../parse/transition.ts';
import type { SurveyedRun } from '../../ports.ts';
import { canConfirm, confirm } from '../confirm.ts';
import { allRuns, runToChange } from '../runs.ts';
import { forgetSnapshots } from '../stored-files.ts';
import type { Here, Surroundings } from '../surroundings.ts';
import { stderr, stdout } from '../terminal.ts';

export interface PruneOptions {
  readonly olderThan?: string;
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly discardWorktrees?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/**
 * Removes completed runs. With `--all` or by name, removes any run on which no process works. Keeps a
 * run whose folder contains work that exists nowhere else, unless a person agrees to delete it.
 */
export async function prune(
  here: Here,
  names: readonly string[],
  options: PruneOptions,
): Promise<number> {
  const around = await here();
  const { store } = around;
  const wanted = new Set<string>();
  for (const name of names) wanted.add(await runToChange(store, name));
  const oldest = olderThan(around, options.olderThan);
  const doomed = (await allRuns(store)).filter((found) =>
    wanted.size > 0
      ? wanted.has(found.id)
      : isOver(found, options.all === true) && isOlder(found, oldest),
  );
  for (const found of doomed) checkIdle(found);
  if (options.discardWorktrees && !(await mayDiscard(around, doomed, options))) return 1;
  let keeps = false;
  const busy = foldersWithProcesses(doomed.map(({ id }) => around.workspace(id).folder));
  for (const found of doomed) {
    stderr.say(...(await lostTreesOf(around, found)));
    const pruned = await removeUnlessWork(around, found, busy, options);
    keeps ||= pruned.work.length > 0;
    report(found.id, pruned, options);
  }
  if (doomed.length === 0 && !options.json) stderr.say('There is nothing to prune.');
  return keeps ? 1 : 0;
}

function checkIdle(found: SurveyedRun): void {
  if (found.kind === 'damaged' || !found.owner || found.owner.isAwaited) return;
  const { name } = found.owner;
  throw wrongUsage(
    `${name.charAt(0).toUpperCase()}${name.slice(1)} works on ${found.id}.`,
    `Stop it first: raymond stop ${found.id}`,
  );
}

/** Names the work that would be deleted, and asks. */
async function mayDiscard(
  around: Surroundings,
  doomed: readonly SurveyedRun[],
  { dryRun, yes }: PruneOptions,
): Promise<boolean> {
  const lines: string[] = [];
  for (const found of doomed) {
    const { folder, tasks } = around.workspace(found.id);
    const trees = (await treesOf(around, found)).filter((tree) => !isLocked(tree));
    for (const { path, why } of [...(await unsavedIn(folder, tasks)), ...trees.flatMap(workIn)])
      lines.push(`  ${path} ${why}`);
  }
  if (lines.length === 0 || dryRun) return true;
  stderr.say('This work will be deleted, and cannot be restored:', ...lines);
  if (yes) return true;
  if (!canConfirm())
    throw wrongUsage('Raymond cannot ask here whether to delete it.', 'To delete it, add --yes.');
  return confirm('Delete it?');
}

function report(id: string, { work, trees }: Pruned, { dryRun = false, json }: PruneOptions): void {
  const isRemoved = work.length === 0;
  if (json) {
    stdout.json({
      workflow_id: id,
      removed: isRemoved && !dryRun,
      ...(trees.length > 0 && { worktrees: trees }),
      ...(!isRemoved && { kept: work }),
    });
    return;
  }
  for (const path of trees)
    stdout.say(`${dryRun ? 'would remove' : 'removed'} the worktree ${path}`);
  if (isRemoved) {
    stdout.say(`${dryRun ? 'would remove' : 'removed'} ${id}`);
    return;
  }
  stderr.say(
    `${dryRun ? 'would keep' : 'kept'} ${id}, because it contains work that exists nowhere else:`,
    ...work.map(({ path, why }) => `  ${path} ${why}`),
    `  Save it (commit, merge, push or move it), then run: raymond prune ${id}`,
    `  To delete it: raymond prune ${id} --discard-worktrees`,
  );
}

function isOver(found: SurveyedRun, all: boolean): boolean {
  if (found.kind === 'damaged') return false;
  return all ? !found.owner : conditionOf(found).kind === 'completed';
}

function isOlder(found: SurveyedRun, oldest: number | undefined): boolean {
  return oldest === undefined || (found.kind === 'stored' && found.run.updatedAt <= oldest);
}

function olderThan({ clock }: Surroundings, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const age = readDuration(text);
  if (age === undefined)
    throw wrongUsage(`--older-than is "${text}".`, 'Write a time like 12h or 30d.');
  return clock.now() - age;
}

interface Pruned {
  /** The work for which the run was kept. */
  readonly work: readonly UnsavedWork[];
  /** The worktrees that were removed. */
  readonly trees: readonly string[];
}

/**
 * Removes worktrees without work, and the run if nothing is kept. The lease prevents other processes
 * from working on the run meanwhile. The lock is removed with the run.
 */
async function removeUnlessWork(
  around: Surroundings,
  found: SurveyedRun,
  busy: ReadonlySet<string>,
  { dryRun, discardWorktrees = false }: PruneOptions,
): Promise<Pruned> {
  const { folder, worktrees, tasks, files } = around.workspace(found.id);
  const look = async () => {
    const trees = await treesOf(around, found);
    const isDoomed = (tree: LeftTree) =>
      !isLocked(tree) && (discardWorktrees || tree.work.length === 0);
    const kept = trees.filter((tree) => !isDoomed(tree)).flatMap(workIn);
    const inFolder = discardWorktrees ? [] : await unsavedIn(folder, tasks);
    return { doomed: trees.filter(isDoomed), work: [...inFolder, ...kept] };
  };
  const pruned = ({ doomed, work }: Awaited<ReturnType<typeof look>>) => ({
    trees: doomed.map(({ path }) => path),
    work,
  });
  if (dryRun) return pruned(await look());
  const lease = await around.store.lease(found.id);
  try {
    const processes = await around.processes(found.id);
    if (busy.has(folder)) await processes.endStrays();
    await processes.endSteps(await stepsLeft(around, found));
    const looked = await look();
    const failures: UnsavedWork[] = [];
    for (const tree of looked.doomed)
      await removeLeftTree(tree, found.id, discardWorktrees).catch((error) =>
        failures.push({ path: tree.path, why: `cannot be removed (${messageOf(error)})` }),
      );
    await clearFolder(worktrees);
    const work = [...looked.work, ...failures];
    if (work.length === 0) {
      await forgetFiles(found.id, files);
      stderr.say(...(await forgetSnapshots(around, found.id)));
      await lease.remove();
    }
    const isRemoved = ({ path }: LeftTree) => failures.every((failed) => failed.path !== path);
    return pruned({ doomed: looked.doomed.filter(isRemoved), work });
  } finally {
    await lease.release();
  }
}

/** Scripts and agents make repositories in their task folders. */
async function unsavedIn(...folders: readonly string[]): Promise<readonly UnsavedWork[]> {
  return (await Promise.all(folders.map((folder) => unsavedWork(folder)))).flat();
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** The journal is read only if the run has worktrees. */
async function treesOf(around: Surroundings, { id }: SurveyedRun): Promise<readonly LeftTree[]> {
  const { worktrees } = around.workspace(id);
  if (!existsSync(worktrees)) return [];
  const found = await around.store.look(id);
  return leftTrees(worktrees, id, found.kind === 'stored' ? found.run : undefined);
}

/** The same: where no run has a worktree, no journal is read. */
async function lostTreesOf(around: Surroundings, { id }: SurveyedRun): Promise<readonly string[]> {
  if (!existsSync(dirname(around.workspace(id).worktrees))) return [];
  const found = await around.store.look(id);
  return found.kind === 'stored' ? lostTrees(found.run) : [];
}

const isLocked = ({ found }: LeftTree) => found.kind === 'made' && found.isLocked;

/** A lock is the wish of a person, so not even --discard-worktrees removes such a tree. */
function workIn(tree: LeftTree): readonly UnsavedWork[] {
  if (!isLocked(tree)) return tree.work;
  const why = `is locked. To unlock it: git worktree unlock ${shellWord(tree.path)}`;
  return [{ path: tree.path, why }, ...tree.work];
}

/** Processes of an earlier version of Raymond can be found only through the folders of their steps. */
async function stepsLeft(around: Surroundings, { id }: SurveyedRun): Promise<readonly string[]> {
  const found = await around.store.look(id);
  if (found.kind === 'damaged') return (await around.processes(id)).recordedSteps();
  const { step } = around.workspace(id);
  return [...found.run.agents].flatMap(([id, { status }]) =>
    status.kind === 'running' ? [step(id, status.step)] : [],
  );
}
