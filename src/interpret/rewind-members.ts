/** Which agents go back together. */
import type { Agent, Run } from '../model/run.ts';
import type { Moment, Past } from './past.ts';

/** The root of the working tree that contains a directory; undefined if it is in none. */
export type RootOf = (directory: string) => string | undefined;

/**
 * The agents that a rewind concerns: the given ones, and all that belong to one of them since the
 * moment. These are agents that shared a directory with it, and children that were forked. These are
 * also agents that it has affected: with its result in a join, or with a stop.
 */
export function rewindMembers(
  past: Past,
  { seq, run }: Moment,
  now: Run,
  seeds: readonly string[],
  rootOf: RootOf,
): ReadonlySet<string> {
  const places = placesSince(past, seq, run, now, rootOf);
  const members = new Set(seeds);
  const concerned = new Set<string>();
  const add = (id: string) => {
    if (places.has(id)) members.add(id);
  };
  const forks = [...past.forks].filter(([, fork]) => fork.seq >= seq);
  const effects = past.effects.filter((effect) => effect.seq >= seq);
  for (let size = -1; size !== members.size; ) {
    size = members.size;
    for (const id of members) for (const place of places.get(id) ?? []) concerned.add(place);
    for (const [id, own] of places) if ([...own].some((place) => concerned.has(place))) add(id);
    for (const [id, { parent }] of forks) {
      if (members.has(parent)) add(id);
      if (members.has(id)) add(parent);
    }
    for (const { from, to } of effects) if (members.has(from)) add(to);
  }
  return members;
}

/**
 * The places of each agent that lived at the moment or since then. Agents with a worktree work in it,
 * whether it still exists or not.
 */
export function placesSince(
  past: Past,
  seq: number,
  then: Run,
  now: Run,
  rootOf: RootOf,
): ReadonlyMap<string, ReadonlySet<string>> {
  const places = new Map<string, Set<string>>();
  const add = (id: string, cwd: string) => {
    const place = placeOf(cwd, worktreeOf(id), rootOf);
    places.set(id, (places.get(id) ?? new Set()).add(place));
  };
  const worktreeOf = (id: string) =>
    (now.agents.get(id) ?? now.endedAgents.get(id) ?? then.agents.get(id))?.worktree;
  for (const [id, { cwd }] of then.agents) add(id, cwd);
  for (const [id, { cwd }] of now.agents) add(id, cwd);
  for (const { agent, cwd, started } of past.steps)
    if (agent !== undefined && started >= seq) add(agent, cwd);
  for (const [id, fork] of past.forks)
    if (fork.seq >= seq && !places.has(id)) places.set(id, new Set());
  return places;
}

export function placeOf(cwd: string, worktree: Agent['worktree'], rootOf: RootOf): string {
  const own = worktree?.tree?.path;
  if (own !== undefined && (cwd === own || cwd.startsWith(`${own}/`))) return own;
  return rootOf(cwd) ?? cwd;
}
