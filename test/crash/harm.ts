/** The processes and files that a game disturbs. */
import { readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from '../names-in.ts';
import type { Project, Started } from '../raymond.ts';
import { killHard, launchers, runningSteps, survivors, suspend } from '../survivors.ts';
import { pick, type Random } from './random.ts';

export type Victims =
  | 'raymond'
  | 'raymond and its steps'
  | 'raymond and its launchers'
  | 'raymond and git'
  | 'launchers'
  | 'wrappers'
  | 'records'
  | 'agents'
  | 'git';

/** The end of a script is then unknown, so it is repeated. */
export const isLossy = (victims: Victims) =>
  victims === 'raymond and its steps' || victims === 'wrappers';

/** A prompt is then repeated. */
export const repeatsPrompts = (victims: Victims) => isLossy(victims) || victims === 'agents';

export const killsRaymond = (victims: Victims) => victims.startsWith('raymond');

/** Whether a process or file was found to harm. */
export function harm(project: Project, life: Started, random: Random, victims: Victims): boolean {
  switch (victims) {
    case 'raymond':
    case 'raymond and its steps':
      return life.child.kill('SIGKILL');
    case 'raymond and its launchers':
      killAll(launchers(project.folder));
      return life.child.kill('SIGKILL');
    case 'raymond and git':
      // Otherwise one of them could still see the end of the other.
      life.child.kill('SIGSTOP');
      killAll(gitsOf(life.pid));
      return life.child.kill('SIGKILL');
    case 'launchers':
      return killAll(launchers(project.folder));
    case 'git':
      return killAll(gitsOf(life.pid));
    case 'agents': {
      const agent = pick(random, agentsOf(project));
      return agent !== undefined && killAll([agent]);
    }
    case 'wrappers':
    case 'records': {
      const step = pick(random, runningSteps(project.folder));
      if (!step) return false;
      if (victims === 'wrappers') killHard(step.pid);
      else fillDiskFor(join(step.folder, 'launch'));
      return true;
    }
  }
}

/** The processes of git that Raymond itself has started, and those that they have started. */
export function gitsOf(raymond: number): readonly number[] {
  return below(raymond).filter((pid) => isOwnGit(pid));
}

/**
 * Raymond calls git in the root folder. Scripts and agents call it elsewhere. A git that removes a
 * branch locks all branches of the repository. If it is killed, only a person can remove that lock.
 */
function isOwnGit(pid: number): boolean {
  try {
    const [program = '', ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    if (!/(^|\/)git$/.test(program) || args.includes('update-ref')) return false;
    return readlinkSync(`/proc/${pid}/cwd`) === '/';
  } catch {
    return false;
  }
}

function below(pid: number): number[] {
  const children = namesIn(`/proc/${pid}/task`).flatMap((task) =>
    textOf(`/proc/${pid}/task/${task}/children`).split(' ').filter(Boolean).map(Number),
  );
  return children.flatMap((child) => [child, ...below(child)]);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** The agents of the game with worktrees. A part of one that is killed would give half of an answer. */
function agentsOf(project: Project): readonly number[] {
  const found = survivors(project.folder)
    .map((line) => Number.parseInt(line, 10))
    .filter((pid) => textOf(`/proc/${pid}/cmdline`).split('\0')[1]?.endsWith('/the-agent'));
  return found.filter((pid) => !found.includes(parentOf(pid)));
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)/m.exec(textOf(`/proc/${pid}/status`))?.[1]);
}

function killAll(pids: readonly number[]): boolean {
  for (const pid of pids) suspend(pid);
  for (const pid of pids) killHard(pid);
  return pids.length > 0;
}

/** Every write to /dev/full fails as on a full disk. */
function fillDiskFor(record: string): void {
  rmSync(record, { force: true });
  try {
    symlinkSync('/dev/full', record);
  } catch {
    // The step has ended, and its folder was removed.
  }
}
