import { basename, dirname } from 'node:path';
import { RunLost } from '../model/run-lost.ts';
import { UserError } from '../model/user-error.ts';
import { cureOf, reasonOf } from './disk-errors.ts';
import { type LockOwner, STALE_MS } from './lock-owner.ts';

const runOf = (path: string) => basename(dirname(path));

export function lockedBy(
  owner: LockOwner,
  path: string,
  seen: { readonly here: boolean; readonly now: number },
): UserError {
  const run = runOf(path);
  if (seen.here || owner.beat === undefined) {
    return new UserError(
      'run-locked',
      `Process ${owner.pid} is working on the run ${run}.`,
      `Wait for it, or stop it: raymond stop ${run}`,
    );
  }
  const age = Math.max(0, seen.now - owner.beat);
  const left = Math.max(1, Math.ceil((STALE_MS - age) / 1000));
  return new UserError(
    'run-locked',
    `The run ${run} belongs to ${elsewhere(owner)}. Its last heartbeat was ${Math.round(age / 1000)} s ago.`,
    `Wait for it, or stop it: raymond stop ${run}. If that process no longer exists, try again in ${left} s.`,
  );
}

/** A process that cannot be seen from here. */
export function elsewhere({ pid, host }: LockOwner): string {
  return `process ${pid} on ${host ?? 'another host'}, in another container or on another machine`;
}

export function tookOver(owner: LockOwner): string {
  return `Raymond took the run over from ${elsewhere(owner)}. Its steps may still run there. Raymond cannot see them and repeats them.`;
}

export function lockRemoved(path: string, name: string): RunLost {
  const run = runOf(path);
  return new RunLost(
    'lock-lost',
    `The lock ${name} of the run was removed. ${STOPPED}`,
    `If no other process works on the run, continue it: raymond resume ${run}`,
  );
}

/** Another process, which cannot see this one, has taken the lock. */
export function lockTaken(path: string, by: LockOwner | undefined): RunLost {
  const run = runOf(path);
  const who = by ? `Process ${by.pid} on ${by.host ?? 'another host'}` : 'Another process';
  return new RunLost(
    'lock-lost',
    `${who} has taken over the run ${run}, because this process sent no heartbeat for too long. ${STOPPED}`,
    `To see its status: raymond show ${run}`,
    { owner: by },
  );
}

/** A process that can see this one has taken the lock, after someone removed it. */
export function lockInherited(path: string, owner: LockOwner): RunLost {
  const run = runOf(path);
  return new RunLost(
    'lock-lost',
    `The lock of the run ${run} was removed, and process ${owner.pid} is working on the run now. Raymond leaves the running steps to it and starts nothing more.`,
    `To see its status: raymond show ${run}`,
    { owner, leavesSteps: true },
  );
}

export function journalGone(path: string): RunLost {
  return new RunLost(
    'journal-gone',
    `The journal ${path} was removed or replaced while the run was working. ${STOPPED}`,
    'Restore it from a backup and resume the run, or start the workflow again.',
  );
}

const STOPPED = 'Raymond has stopped its steps and starts nothing more.';

export function lockUnusable(path: string, error: unknown): UserError {
  return new UserError(
    'lock-unusable',
    `The run cannot be locked with ${path}: ${reasonOf(error)}.`,
    `${cureOf(error)}, then try again.`,
    { file: path },
  );
}
