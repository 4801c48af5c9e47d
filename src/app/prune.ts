import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { forgetFiles } from '../execute/git/file-history.ts';
import {
  clearFolder,
  type LeftTree,
  leftTrees,
  removeLeftTree,
} from '../execute/git/left-trees.ts';
import { type UnsavedWork, unsavedWork } from '../execute/git/unsaved-work.ts';
import { foldersWithProcesses } from '../execute/process/index.ts';
import { conditionOf } from '../model/condition.ts';
import { counted } from '../model/counted.ts';
import { messageOf } from '../model/message-of.ts';
import { type Door, warnings } from '../model/notice.ts';
import { shellWord } from '../model/shell-word.ts';
import { oneLine, time } from '../observe/words.ts';
import { wrongUsage } from '../options/wrong-usage.ts';
import type { SurveyedRun } from '../ports.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { allRuns, noSuchRun } from './find-run.ts';
import { consented, give } from './started-run.ts';

export interface PruneOptions {
  /** Those runs, even if they are none. Otherwise completed ones. */
  readonly ids?: readonly string[] | undefined;
  /** The caller has chosen the runs, so that their removal needs no consent. Named runs are chosen. */
  readonly isChosen?: boolean | undefined;
  /** Any run on which no process works. */
  readonly all?: boolean | undefined;
  /** Only runs whose last event is not newer. */
  readonly until?: number | undefined;
  readonly dryRun?: boolean | undefined;
  /** Also deletes work that exists nowhere else, after a consent. */
  readonly discardWorktrees?: boolean | undefined;
  /** The consent to that, and to remove runs that are not named. */
  readonly agreed?: boolean | undefined;
}

export interface PrunedRun {
  readonly id: string;
  /** The work for which the run was kept. */
  readonly work: readonly UnsavedWork[];
  /** The worktrees that were removed. */
  readonly trees: readonly string[];
}

/**
 * Removes runs. Keeps a run whose folder contains work that exists nowhere else, unless a person agrees
 * to delete it. Gives undefined if a person does not agree.
 */
export async function prune(
  around: Surroundings,
  options: PruneOptions,
  door: Door,
): Promise<AsyncIterable<PrunedRun> | undefined> {
  const { ids, all, until } = options;
  const runs = await allRuns(around.store);
  const known = runs.map(({ id }) => id);
  const unknown = ids?.find((id) => !known.includes(id));
  if (unknown !== undefined) throw noSuchRun(unknown, known);
  const doomed = runs.filter((found) =>
    ids ? ids.includes(found.id) : isOver(found, all === true) && isOlder(found, until),
  );
  for (const found of doomed) checkIdle(found);
  const isChosen = options.isChosen ?? ids !== undefined;
  if (!isChosen && !(await mayRemove(doomed, options, door))) return undefined;
  if (options.discardWorktrees && !(await mayDiscard(around, doomed, options, door)))
    return undefined;
  return removed(around, doomed, options, door);
}

async function* removed(
  around: Surroundings,
  doomed: readonly SurveyedRun[],
  options: PruneOptions,
  door: Door,
): AsyncGenerator<PrunedRun> {
  const busy = foldersWithProcesses(doomed.map(({ id }) => around.workspace(id).folder));
  for (const found of doomed) {
    give(door, warnings(await lostTreesOf(around, found)));
    yield { id: found.id, ...(await removeUnlessWork(around, found, busy, options, door)) };
  }
}

function checkIdle(found: SurveyedRun): void {
  if (found.kind === 'damaged' || !found.owner || found.owner.isAwaited) return;
  const { name } = found.owner;
  throw wrongUsage(
    `${name.charAt(0).toUpperCase()}${name.slice(1)} works on ${found.id}.`,
    `Stop it first: raymond stop ${found.id}`,
  );
}

/** Names the runs that would be removed, and asks. */
async function mayRemove(
  doomed: readonly SurveyedRun[],
  { dryRun, agreed }: PruneOptions,
  door: Door,
): Promise<boolean> {
  if (doomed.length === 0 || dryRun || agreed) return true;
  const facts = [`${counted(doomed.length, 'run')} will be removed:`, ...doomed.map(runLine)];
  const isAgreed = await door.agree({ kind: 'prune', facts });
  if (isAgreed === undefined)
    throw wrongUsage(
      `Raymond cannot ask here whether to remove ${counted(doomed.length, 'run')}.`,
      'To see them, add --dry-run. To remove them, add --yes, or name the runs.',
    );
  return isAgreed;
}

function runLine(found: SurveyedRun): string {
  if (found.kind === 'damaged') return `  ${found.id}  damaged`;
  const { updatedAt, input } = found.run;
  const purpose = input === undefined ? '' : `  ${oneLine(input.text, 60)}`;
  return `  ${found.id}  ${conditionOf(found).kind}, ${time(updatedAt, Date.now())}${purpose}`;
}

/** Names the work that would be deleted, and asks. */
async function mayDiscard(
  around: Surroundings,
  doomed: readonly SurveyedRun[],
  { dryRun, agreed }: PruneOptions,
  door: Door,
): Promise<boolean> {
  const lines: string[] = [];
  for (const found of doomed) {
    const { folder, tasks } = around.workspace(found.id);
    const trees = (await treesOf(around, found)).filter((tree) => !isLocked(tree));
    for (const { path, why } of [...(await unsavedIn(folder, tasks)), ...trees.flatMap(workIn)])
      lines.push(`  ${path} ${why}`);
  }
  if (lines.length === 0 || dryRun) return true;
  const facts = ['This work will be deleted, and cannot be restored:', ...lines];
  const isAgreed = await consented(door, { kind: 'discard-work', facts }, agreed);
  if (isAgreed === undefined)
    throw wrongUsage('Raymond cannot ask here whether to delete it.', 'To delete it, add --yes.');
  return isAgreed;
}

function isOver(found: SurveyedRun, all: boolean): boolean {
  if (found.kind === 'damaged') return false;
  return all ? !found.owner : conditionOf(found).kind === 'completed';
}

function isOlder(found: SurveyedRun, oldest: number | undefined): boolean {
  return oldest === undefined || (found.kind === 'stored' && found.run.updatedAt <= oldest);
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
  door: Door,
): Promise<Omit<PrunedRun, 'id'>> {
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
      give(door, warnings(await around.world.forget(found.id)));
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
  return found.kind === 'stored' ? around.world.lostTrees(found.run) : [];
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
