// Pid, start time and boot together identify a process. Pids are reused, and on some platforms start
// times count from the boot.
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { attempt } from '../../model/attempt.ts';
import type { RunOwner } from '../../ports.ts';
import { system } from './system.ts';

export type ProcessIdentity = Pick<RunOwner, 'pid' | 'started' | 'boot'>;

/** The identity of the process that has this pid now, if one exists. */
export function identify(pid: number): ProcessIdentity | undefined {
  const [entry] = system.look([pid]);
  return entry && { pid, started: entry.started, boot: boot() };
}

/** False for a process that has ended, for a zombie, and for a pid that another process has now. */
export function isAlive(identity: ProcessIdentity): boolean {
  return living([identity]).length > 0;
}

/** True for a living process that a signal has stopped: it does nothing until SIGCONT. */
export function isSuspended(identity: ProcessIdentity): boolean {
  return isAlive(identity) && system.look([identity.pid]).some(({ suspended }) => suspended);
}

/** Signals this process, but never another process that has got its pid since. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (isAlive(identity)) system.signal(identity.pid, signal);
}

/** The identity of this Raymond process. */
export function self(): ProcessIdentity {
  const identity = identify(process.pid);
  if (identity === undefined) throw new Error(`The process table does not show ${process.pid}.`);
  return identity;
}

/** The processes that are still alive. Reads the process table once. */
export function living<T extends ProcessIdentity>(identities: readonly T[]): T[] {
  const candidates = identities.filter((one) => one.boot === boot());
  if (candidates.length === 0) return [];
  const started = new Map(
    system.look(candidates.map((one) => one.pid)).map((entry) => [entry.pid, entry.started]),
  );
  return candidates.filter((one) => started.get(one.pid) === one.started);
}

let knownBoot: string | undefined;

/** The id of the machine's current boot. It cannot change while this process runs. */
export function boot(): string {
  knownBoot ??= system.boot();
  return knownBoot;
}

/** Names the process table that this process can see: each container has its own. */
export function processSpace(): string {
  return attempt(() => readlinkSync('/proc/self/ns/pid')) ?? hostname();
}
