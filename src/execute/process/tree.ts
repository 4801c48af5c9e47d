import type { ProcessEntry } from './process-entry.ts';

/** Pid and start time, which together identify a process within one boot. */
export type PidAndStart = Pick<ProcessEntry, 'pid' | 'started'>;

/**
 * The processes of `table` that are related to `ours`. These are `ours`, their descendants, and all
 * processes that share a group or a session with one of them. Groups and sessions count only through
 * a living member, because their numbers are reused like pids. The result never contains `self`, the
 * calling process, or its ancestors. The group and the session of `self` relate no processes.
 */
export function relatedProcesses(
  table: readonly ProcessEntry[],
  ours: (entry: ProcessEntry) => boolean,
  self: number,
): ProcessEntry[] {
  const me = table.find((entry) => entry.pid === self);
  const line = ancestry(table, self);
  const others = table.filter((entry) => !line.has(entry.pid) && entry.pid > 1);
  const found = new Set(others.filter(ours));
  let before = found.size === 0 ? 0 : -1;
  while (found.size > before) {
    before = found.size;
    const parents = new Set<number | undefined>();
    const groups = new Set<number | undefined>();
    const sessions = new Set<number | undefined>();
    for (const { pid, group, session } of found) {
      parents.add(pid);
      if (group !== me?.group) groups.add(group);
      if (session !== me?.session) sessions.add(session);
    }
    for (const entry of others) {
      const { parent, group, session } = entry;
      const isNear =
        parents.has(parent) ||
        (group !== undefined && groups.has(group)) ||
        (session !== undefined && sessions.has(session));
      if (isNear) found.add(entry);
    }
  }
  return [...found];
}

/** A process, its parent, and so on. */
function ancestry(table: readonly ProcessEntry[], pid: number): ReadonlySet<number> {
  const parents = new Map(table.map((entry) => [entry.pid, entry.parent]));
  const line = new Set<number>();
  for (let next: number | undefined = pid; next !== undefined && !line.has(next); ) {
    line.add(next);
    next = parents.get(next);
  }
  return line;
}

export function isSame(a: PidAndStart, b: PidAndStart): boolean {
  return a.pid === b.pid && a.started === b.started;
}
