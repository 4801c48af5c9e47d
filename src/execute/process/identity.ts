// A process is known by pid, start time and boot together: pids are used again, and start times
// count from the boot on some platforms.
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { system } from './system.ts';

export interface ProcessIdentity {
  readonly pid: number;
  readonly started: string;
  readonly boot: string;
}

/** Who lives under this pid now, if anybody does. */
export function identify(pid: number): ProcessIdentity | undefined {
  const [entry] = system.look([pid]);
  return entry && { pid, started: entry.started, boot: boot() };
}

/** False for one that ended, also as a zombie, and for a pid that belongs to another process now. */
export function isAlive(identity: ProcessIdentity): boolean {
  return living([identity]).length > 0;
}

/** Alive, but stopped by a signal: it does nothing until it is continued. */
export function isSuspended(identity: ProcessIdentity): boolean {
  return isAlive(identity) && system.look([identity.pid]).some(({ suspended }) => suspended);
}

/** Sends a signal to this process, and to no other that got its pid since. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (isAlive(identity)) system.signal(identity.pid, signal);
}

/** This Raymond. */
export function self(): ProcessIdentity {
  const identity = identify(process.pid);
  if (identity === undefined) throw new Error(`The process table does not show ${process.pid}.`);
  return identity;
}

/** Those that are still alive, found with one look at the process table. */
export function living<T extends ProcessIdentity>(identities: readonly T[]): T[] {
  const candidates = identities.filter((one) => one.boot === boot());
  if (candidates.length === 0) return [];
  const started = new Map(
    system.look(candidates.map((one) => one.pid)).map((entry) => [entry.pid, entry.started]),
  );
  return candidates.filter((one) => started.get(one.pid) === one.started);
}

let knownBoot: string | undefined;

/** This boot of the machine, which cannot change while we run. */
export function boot(): string {
  knownBoot ??= system.boot();
  return knownBoot;
}

/** Names the process table that can be seen from here: each container has its own. */
export function processSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return hostname();
  }
}
