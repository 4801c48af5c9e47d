import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { findRun } from '../../journal/find-run.ts';
import type { Project, RunPaths } from '../../journal/project.ts';
import { readDuration } from '../../parse/transition.ts';
import { wrongUsage } from '../options.ts';
import { allRuns, condition, type DamagedRun, type FoundRun } from '../runs.ts';
import { clock, currentProject, disk, lockRun, pathsOf, processesOf } from '../store.ts';
import { stderr, stdout } from '../terminal.ts';

export interface PruneOptions {
  readonly olderThan?: string;
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** Removes runs that are over: completed ones, or any that nobody works on with `--all` or by name. */
export async function prune(names: readonly string[], options: PruneOptions): Promise<number> {
  const project = await currentProject();
  const wanted = new Set(await Promise.all(names.map((name) => findRun(disk, project, name))));
  const oldest = olderThan(options.olderThan);
  const doomed = (await allRuns(project)).filter((found) =>
    wanted.size > 0
      ? wanted.has(found.id)
      : isOver(found, options.all === true) && isOlder(found, oldest),
  );
  for (const found of doomed) {
    if ('run' in found && found.pid !== undefined) {
      throw wrongUsage(
        `${found.id} is being worked on by pid ${found.pid}.`,
        `First: raymond stop ${found.id}`,
      );
    }
    if (!options.dryRun) await removeLocked(project, found);
    if (options.json) stdout.json({ workflow_id: found.id, removed: !options.dryRun });
    else stdout.say(`${options.dryRun ? 'would remove' : 'removed'} ${found.id}`);
  }
  if (doomed.length === 0 && !options.json) stderr.say('There is nothing to prune.');
  return 0;
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

/** Nobody may begin to work on a run while it is removed; the lock goes with it. */
async function removeLocked(project: Project, found: FoundRun | DamagedRun): Promise<void> {
  const paths = pathsOf(project, found.id);
  const lock = await lockRun(paths);
  try {
    const processes = processesOf(paths);
    await processes.endStrays();
    await processes.endSteps(await stepsLeft(found, paths));
    await removeRun(project, found.id);
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

/** The journal goes last: until then the run is still listed, and can be pruned again. */
async function removeRun(project: Project, id: string): Promise<void> {
  const paths: RunPaths = pathsOf(project, id);
  const debug = await readdir(project.debugFolder).catch(() => []);
  const folders = debug.filter(
    (name) => /^_\d{8}_\d{6}$/.test(name.slice(id.length)) && name.startsWith(id),
  );
  for (const name of folders)
    await rm(join(project.debugFolder, name), { recursive: true, force: true });
  const remains = (await readdir(project.stateFolder)).filter(
    (name) => isKeptAside(name, id) || name.startsWith(`.${id}.`),
  );
  const beside = remains.map((name) => join(project.stateFolder, name));
  for (const path of [paths.folder, ...beside, paths.pointer, paths.stateFile, paths.journal]) {
    await rm(path, { recursive: true, force: true });
  }
}

/** A damaged or an older file of the run. */
function isKeptAside(name: string, id: string): boolean {
  return name.startsWith(`${id}.json`) && /^l?\.(broken|old)-\d+$/.test(name.slice(id.length + 5));
}
