import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { foldersWithProcesses } from '../../execute/process/index.ts';
import { type UnsavedWork, unsavedWork } from '../../execute/unsaved-work.ts';
import { findRun } from '../../journal/find-run.ts';
import type { Project, RunPaths } from '../../journal/project.ts';
import { removeRun } from '../../journal/remove-run.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { readDuration } from '../../parse/transition.ts';
import { canConfirm, confirm } from '../confirm.ts';
import { allRuns, condition, type DamagedRun, type FoundRun } from '../runs.ts';
import { clock, currentProject, disk, lockRun, pathsOf, processesOf } from '../store.ts';
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
 * Removes runs that are over: completed ones, or any that nobody works on with `--all` or by name. A
 * run whose folder holds work that exists nowhere else is kept, unless a person gives that up.
 */
export async function prune(names: readonly string[], options: PruneOptions): Promise<number> {
  const project = await currentProject();
  const wanted = new Set(await Promise.all(names.map((name) => findRun(disk, project, name))));
  const oldest = olderThan(options.olderThan);
  const doomed = (await allRuns(project)).filter((found) =>
    wanted.size > 0
      ? wanted.has(found.id)
      : isOver(found, options.all === true) && isOlder(found, oldest),
  );
  for (const found of doomed) checkIdle(found);
  if (options.discardWorktrees && !(await mayDiscard(project, doomed, options))) return 1;
  let keeps = false;
  const busy = foldersWithProcesses(doomed.map(({ id }) => pathsOf(project, id).folder));
  for (const found of doomed) {
    const work = await removeUnlessWork(project, found, busy, options);
    keeps ||= work.length > 0;
    report(found.id, work, options);
  }
  if (doomed.length === 0 && !options.json) stderr.say('There is nothing to prune.');
  return keeps ? 1 : 0;
}

function checkIdle(found: FoundRun | DamagedRun): void {
  if (!('run' in found) || found.pid === undefined) return;
  throw wrongUsage(
    `${found.id} is being worked on by pid ${found.pid}.`,
    `First: raymond stop ${found.id}`,
  );
}

/** Names the work that would be deleted, and asks. */
async function mayDiscard(
  project: Project,
  doomed: readonly { readonly id: string }[],
  { dryRun, yes }: PruneOptions,
): Promise<boolean> {
  const lines: string[] = [];
  for (const { id } of doomed)
    for (const { path, why } of await unsavedWork(pathsOf(project, id).folder))
      lines.push(`  ${path} ${why}`);
  if (lines.length === 0 || dryRun) return true;
  stderr.say('This work is deleted, and nobody can bring it back:', ...lines);
  if (yes) return true;
  if (!canConfirm())
    throw wrongUsage('Nobody is here to say yes to that.', 'If you mean it, add --yes.');
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
    `${dryRun ? 'would keep' : 'kept'} ${id}, since work in it exists nowhere else:`,
    ...work.map(({ path, why }) => `  ${path} ${why}`),
    `  Save it (commit it, push it, move it), then: raymond prune ${id}`,
    `  To delete it: raymond prune ${id} --discard-worktrees`,
  );
}

function isOver(found: FoundRun | DamagedRun, all: boolean): boolean {
  if (!('run' in found)) return false;
  return all ? found.pid === undefined : condition(found) === 'completed';
}

function isOlder(found: FoundRun | DamagedRun, oldest: number | undefined): boolean {
  return oldest === undefined || ('run' in found && found.run.updatedAt <= oldest);
}

function olderThan(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const age = readDuration(text);
  if (age === undefined)
    throw wrongUsage(`--older-than is "${text}".`, 'Write a time like 12h or 30d.');
  return clock.now() - age;
}

/**
 * Gives the work for which the run was kept. Nobody may begin to work on a run while it is removed;
 * the lock goes with it.
 */
async function removeUnlessWork(
  project: Project,
  found: FoundRun | DamagedRun,
  busy: ReadonlySet<string>,
  { dryRun, discardWorktrees }: PruneOptions,
): Promise<readonly UnsavedWork[]> {
  const paths = pathsOf(project, found.id);
  const look = async () => (discardWorktrees ? [] : unsavedWork(paths.folder));
  if (dryRun) return look();
  const lock = await lockRun(paths);
  try {
    const processes = processesOf(paths);
    if (busy.has(paths.folder)) await processes.endStrays();
    await processes.endSteps(await stepsLeft(found, paths));
    const work = await look();
    if (work.length === 0) await removeRun(project, found.id);
    return work;
  } finally {
    await lock.release();
  }
}

/** Steps of an earlier version cannot be found without their folders. */
async function stepsLeft(found: FoundRun | DamagedRun, paths: RunPaths): Promise<string[]> {
  if (!('run' in found)) {
    const files = await readdir(paths.folder, { recursive: true }).catch(() => []);
    const records = files.filter((file) => basename(file) === 'process.json');
    return records.map((file) => join(paths.folder, dirname(file)));
  }
  return [...found.run.agents].flatMap(([id, { status }]) =>
    status.kind === 'running' ? [paths.folders.step(id, status.step)] : [],
  );
}
