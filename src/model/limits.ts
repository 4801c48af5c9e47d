/**
 * The usage limits of a run: when each of them ends, by the name of the executor that reached it. An
 * executor has one provider, so its limit does not affect other executors. Journals of older versions
 * name no executor: such a limit has the name `''` and affects all of them.
 */
import type { LaneReason } from './event.ts';
import type { Agent } from './run.ts';

export type Limits = Readonly<Record<string, number>>;

export const NO_LIMITS: Limits = {};

const OF_ALL = '';

/** The end of the limit of an executor; undefined without one. */
export function limitOf(limits: Limits, executor: string | undefined): number | undefined {
  const ends = [limits[OF_ALL], limits[executor ?? OF_ALL]].filter((end) => end !== undefined);
  return ends.length > 0 ? Math.max(...ends) : undefined;
}

/** The first and the last end of all limits; undefined without any. */
export function firstLimit(limits: Limits): number | undefined {
  const ends = Object.values(limits);
  return ends.length > 0 ? Math.min(...ends) : undefined;
}

export function lastLimit(limits: Limits): number | undefined {
  const ends = Object.values(limits);
  return ends.length > 0 ? Math.max(...ends) : undefined;
}

export function withLimit(limits: Limits, executor: string | undefined, until: number): Limits {
  const name = executor ?? OF_ALL;
  return { ...limits, [name]: Math.max(limits[name] ?? 0, until) };
}

export function withoutLimit(limits: Limits, executor: string | undefined): Limits {
  const { [executor ?? OF_ALL]: _, ...others } = limits;
  return others;
}

/** The executors whose limits are over, as events name them. */
export function overAt(limits: Limits, at: number): readonly (string | undefined)[] {
  return Object.entries(limits).flatMap(([name, until]) =>
    until <= at ? [name === OF_ALL ? undefined : name] : [],
  );
}

/**
 * The end of the limit for which a ready agent seems to wait. Its next state decides which executor
 * it needs, and the run does not know that. So its session counts, or else any limit.
 */
export function limitOn(limits: Limits, { session }: Pick<Agent, 'session'>): number | undefined {
  const executor = session.kind === 'none' ? undefined : session.executor;
  return executor === undefined ? lastLimit(limits) : limitOf(limits, executor);
}

/** The limits that are not over, for people: `usage limit of codex`. The first to end comes first. */
export function openLimits(
  limits: Limits,
  now: number,
): readonly { readonly text: string; readonly until: number }[] {
  return Object.entries(limits)
    .filter(([, until]) => until > now)
    .toSorted(([, a], [, b]) => a - b)
    .map(([name, until]) => ({ text: limitText(name), until }));
}

/** Why prompts do not go to an executor or a lane. */
export function reasonText(why: LaneReason, lane: string | undefined): string {
  if (why === 'usage-limit') return limitText(lane);
  return why === 'overloaded' ? `${lane} is overloaded` : `${lane} is not logged in`;
}

/** Who takes a step, and why an earlier lane does not: `codex (usage limit of claude)`. */
export function takerText(
  name: string,
  passed: readonly { readonly lane: string; readonly why: LaneReason }[] = [],
): string {
  const reasons = passed.map(({ why, lane }) => reasonText(why, lane));
  return reasons.length > 0 ? `${name} (${reasons.join(', ')})` : name;
}

export function limitText(executor: string = OF_ALL): string {
  return executor === OF_ALL ? 'usage limit' : `usage limit of ${executor}`;
}
