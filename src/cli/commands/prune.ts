import { type UnsavedWork, unsavedWork } from '../../execute/git/unsaved-work.ts';
import { foldersWithProcesses } from '../../execute/process/index.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { readDuration } from '../../parse/transition.ts';
import type { SurveyedRun } from '../../ports.ts';
import { canConfirm, confirm } from '../confirm.ts';
import { findRun } from '../find-run.ts';
import { allRuns, condition } from '../runs.ts';
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
  const ids = await store.list();
  const wanted = new Set(names.map((name) => findRun(ids, name)));
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
    const work = await removeUnlessWork(around, found, busy, options);
    keeps ||= work.length > 0;
    report(found.id, work, options);
  }
  if (doomed.length === 0 && !options.json) stderr.say('There is nothing to prune.');
  return keeps ? 1 : 0;
}

function checkIdle(found: SurveyedRun): void {
  if (found.kind === 'damaged' || !found.owner) return;
  throw wrongUsage(
    `Process ${found.owner.pid} works on ${found.id}.`,
    `Stop it first: raymond stop ${found.id}`,
  );
}

/** Names the work that would be deleted, and asks. */
async function mayDiscard(
  around: Surroundings,
  doomed: readonly { readonly id: string }[],
  { dryRun, yes }: PruneOptions,
): Promise<boolean> {
  const lines: string[] = [];
  for (const { id } of doomed)
    for (const { path, why } of await unsavedWork(around.workspace(id).folder))
      lines.push(`  ${path} ${why}`);
  if (lines.length === 0 || dryRun) return true;
  stderr.say('This work will be deleted, and cannot be restored:', ...lines);
  if (yes) return true;
  if (!canConfirm())
    throw wrongUsage('Raymond cannot ask here whether to delete it.', 'To delete it, add --yes.');
  return confirm('Delete it?');
}

function report(
  id: string,
  work: readonly UnsavedWork[],
  { dryRun = false, json }: PruneOptions,
): void {
  const isRemoved = work.length === 0;
  if (json) {
    stdout.json({
      workflow_id: id,
      removed: isRemoved && !dryRun,
      ...(!isRemoved && { kept: work }),
    });
    return;
  }
  if (isRemoved) {
    stdout.say(`${dryRun ? 'would remove' : 'removed'} ${id}`);
    return;
  }
  stderr.say(
    `${dryRun ? 'would keep' : 'kept'} ${id}, because it contains work that exists nowhere else:`,
    ...work.map(({ path, why }) => `  ${path} ${why}`),
    `  Save it (commit, push or move it), then run: raymond prune ${id}`,
    `  To delete it: raymond prune ${id} --discard-worktrees`,
  );
}

function isOver(found: SurveyedRun, all: boolean): boolean {
  if (found.kind === 'damaged') return false;
  return all ? !found.owner : condition(found) === 'completed';
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

/**
 * Gives the work for which the run was kept. The lease prevents other processes from working on the
 * run meanwhile. The lock is removed with the run.
 */
async function removeUnlessWork(
  around: Surroundings,
  found: SurveyedRun,
  busy: ReadonlySet<string>,
  { dryRun, discardWorktrees }: PruneOptions,
): Promise<readonly UnsavedWork[]> {
  const { folder } = around.workspace(found.id);
  const look = async () => (discardWorktrees ? [] : unsavedWork(folder));
  if (dryRun) return look();
  const lease = await around.store.lease(found.id);
  try {
    const processes = around.processes(found.id);
    if (busy.has(folder)) await processes.endStrays();
    await processes.endSteps(await stepsLeft(around, found));
    const work = await look();
    if (work.length === 0) await lease.remove();
    return work;
  } finally {
    await lease.release();
  }
}

/** Processes of an earlier version of Raymond can be found only through the folders of their steps. */
async function stepsLeft(around: Surroundings, { id }: SurveyedRun): Promise<readonly string[]> {
  const found = await around.store.look(id);
  if (found.kind === 'damaged') return around.processes(id).recordedSteps();
  const { step } = around.workspace(id);
  return [...found.run.agents].flatMap(([id, { status }]) =>
    status.kind === 'running' ? [step(id, status.step)] : [],
  );
}
