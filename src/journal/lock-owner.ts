/**
 * The owner of a lock, and whether that process lives.
 *
 * A process that can be seen from here is looked up in the process table, so a suspended process does
 * not count as dead. The table of another container or machine cannot be seen. There, the heartbeat in
 * the lock decides.
 */
import type { RunOwner } from '../ports.ts';

/** Identifies a process. A later process with the same pid differs. */
export type ProcessIdentity = Pick<RunOwner, 'pid' | 'started' | 'boot'>;

/** A process, and where it can be seen. */
export interface LocatedProcess extends ProcessIdentity {
  /** Names the process table: each container has its own. */
  readonly space: string;
  /** The name of the machine or container, for people. */
  readonly host: string;
}

/** Locks of the first release have neither a space nor a heartbeat. */
export interface LockOwner extends ProcessIdentity {
  readonly space?: string | undefined;
  readonly host?: string | undefined;
  /** The time of its last heartbeat, in ms since 1970 by its own clock. */
  readonly beat?: number | undefined;
}

export const BEAT_MS = 10_000;
/** An owner that cannot be seen counts as dead after this time without a heartbeat. */
export const STALE_MS = 60_000;

export type Condition =
  | 'alive'
  | 'dead'
  /** It cannot be seen from here and has sent no heartbeat for too long. */
  | 'silent';

export function conditionOf(
  owner: LockOwner,
  self: LocatedProcess,
  isAlive: (owner: ProcessIdentity) => boolean,
  now: number,
): Condition {
  if (isHere(owner, self) || owner.beat === undefined) return isAlive(owner) ? 'alive' : 'dead';
  // A clock may be ahead or behind.
  return Math.abs(now - owner.beat) <= STALE_MS ? 'alive' : 'silent';
}

/** Whether a process can be seen from where another one is. */
export function isHere(owner: LockOwner, self: LocatedProcess): boolean {
  return owner.boot === self.boot && owner.space === self.space;
}

/** Whether this machine has most likely been restarted since that process lived. */
export function isRestarted(owner: LockOwner, self: LocatedProcess): boolean {
  return owner.host === self.host && owner.boot !== self.boot;
}
