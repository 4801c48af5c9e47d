import type { ProcessEntry } from './system.ts';

/** A process for which pid and start time are known. */
export type Known = Pick<ProcessEntry, 'pid' | 'started'>;

/**
 * All of `table` that belongs together with `known`: these processes themselves, the marked ones,
 * their descendants, and whoever shares a group or a session with one of them. Groups and sessions
 * count only through a living member, because their numbers are used again like pids. `self`, the
 * one who asks, is never in the answer, and nothing is followed through its group or session.
 */
export function belonging(
  table: readonly ProcessEntry[],
  known: readonly Known[],
  self: number,
): ProcessEntry[] {
  const me = table.find((entry) => entry.pid === self);
  const others = table.filter((entry) => entry.pid !== self && entry.pid > 1);
  const ours = new Set(
    others.filter((entry) => entry.marked || known.some((one) => isSame(one, entry))),
  );

  let before = -1;
  while (ours.size > before) {
    before = ours.size;
    const parents = new Set<number | undefined>();
    const groups = new Set<number | undefined>();
    const sessions = new Set<number | undefined>();
    for (const { pid, group, session } of ours) {
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
      if (isNear) ours.add(entry);
    }
  }
  return [...ours];
}

export function isSame(a: Known, b: Known): boolean {
  return a.pid === b.pid && a.started === b.started;
}
