/** The usual cost and time of a run, from finished runs of the same version of its workflow. */
import * as z from 'zod/mini';
import { EDGE_ROLES, stateOfNode } from '../graph/graph.ts';
import { grouped } from '../graph/grouped.ts';
import { type Overlay, wayKey } from '../graph/overlay.ts';
import type { Run } from '../model/run.ts';
import type { PastRun } from './past-run.ts';
import type { After, Standing } from './places.ts';
import { type Spread, spreadOf, spreadSchema } from './spread.ts';

const text = z.string();
const count = z.int().check(z.nonnegative());

const usualSchema = z.object({
  cost_usd: spreadSchema,
  /** Present if a part of these costs was computed with a table of prices. */
  cost_is_estimate: z.optional(z.literal(true)),
  time_ms: spreadSchema,
});

export const forecastSchema = z.object({
  /** The number of finished runs of this version of the workflow. */
  runs: count,
  /** The number of runs that a forecast needs. */
  needed: count,
  /** A whole run; null if there are not enough runs. */
  run: z.nullable(usualSchema),
  states: z.readonly(
    z.array(
      z.object({
        /** As in the graph of a run. */
        node: text,
        /** The number of runs that visited it. The other figures are about these runs. */
        runs: count,
        visits: spreadSchema,
        ...usualSchema.shape,
        /** Over all runs, also those that did not visit it. */
        mean: z.object({ visits: z.number(), cost_usd: z.number(), time_ms: z.number() }),
      }),
    ),
  ),
  ways: z.readonly(
    z.array(
      z.object({
        from: text,
        to: text,
        role: z.enum(EDGE_ROLES),
        /** The number of runs that took it. */
        runs: count,
        /** How often a run takes it, over all runs. */
        mean: z.number(),
      }),
    ),
  ),
});

export const remainderSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('known'),
    /** The smallest number of runs on which the forecast for an agent is based. */
    runs: count,
    ...usualSchema.shape,
  }),
  z.object({
    kind: z.literal('unknown'),
    runs: count,
    needed: count,
    /** The state of an agent that too few runs have visited in the same way; absent without enough runs. */
    state: z.optional(text),
  }),
]);

export type Forecast = z.infer<typeof forecastSchema>;
/** The cost and time that a run still needs. */
export type Remainder = z.infer<typeof remainderSchema>;

/** With fewer runs, a median says more about chance than about the workflow. */
export const NEEDED_RUNS = 3;

export function forecastOf(pasts: readonly PastRun[]): Forecast {
  const isEnough = pasts.length >= NEEDED_RUNS;
  const mean = meanOver(pasts.length);
  const nodes = pasts.flatMap((past) => past.nodes);
  const ways = pasts.flatMap((past) => past.ways);
  return {
    runs: pasts.length,
    needed: NEEDED_RUNS,
    run: isEnough
      ? {
          cost_usd: spreadOf(pasts.map(({ costUsd }) => costUsd)),
          ...estimateIf(pasts.some(({ isPriced }) => isPriced)),
          time_ms: spreadOf(pasts.map(({ workedMs }) => workedMs)),
        }
      : null,
    states: [...grouped(nodes, ([node]) => node)].map(([node, uses]) => {
      const visits = uses.map(([, value]) => value);
      const times = uses.map(([, , value]) => value);
      const costs = uses.map(([, , , value]) => value);
      return {
        node,
        runs: uses.length,
        visits: spreadOf(visits),
        cost_usd: spreadOf(costs),
        ...estimateIf(uses.some(([, , , , isPriced]) => isPriced)),
        time_ms: spreadOf(times),
        mean: { visits: mean(visits), cost_usd: mean(costs), time_ms: mean(times) },
      };
    }),
    ways: [...grouped(ways, keyOfWay).values()].flatMap((same) => {
      const [from, to, role] = same[0] ?? [];
      if (from === undefined || to === undefined || role === undefined) return [];
      return { from, to, role, runs: same.length, mean: mean(same.map((way) => way[4])) };
    }),
  };
}

const estimateIf = (isPriced: boolean) => (isPriced ? { cost_is_estimate: true as const } : {});

const meanOver = (runs: number) => (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, runs);

const keyOfWay = ([from, to, role]: PastRun['ways'][number]) => wayKey({ from, to, role });

/** The median cost of a visit of each state of the workflow itself, by name. Scripts cost nothing. */
export function usualTurnCosts(pasts: readonly PastRun[]): Readonly<Record<string, number>> {
  const visits = grouped(
    pasts.flatMap((past) => past.nodes),
    ([node]) => node,
  );
  return Object.fromEntries(
    [...visits].flatMap(([node, uses]) => {
      const costs = uses.flatMap(([, count, , usd]) => (count > 0 && usd > 0 ? usd / count : []));
      const state = stateOfNode(node);
      return state === undefined || costs.length === 0 ? [] : [[state, spreadOf(costs).median]];
    }),
  );
}

/** The mean of some runs, to be drawn like a run. */
export function meanOverlay(pasts: readonly PastRun[]): Overlay {
  const mean = meanOver(pasts.length);
  const { states } = forecastOf(pasts);
  const ways = grouped(
    pasts.flatMap((past) => past.ways),
    keyOfWay,
  );
  const returns = grouped(
    pasts.flatMap((past) => past.returns),
    ([key]) => key,
  );
  return {
    nodes: new Map(
      states.map(({ node, mean: { visits, cost_usd, time_ms }, cost_is_estimate: isPriced }) => [
        node,
        { visits, timeMs: time_ms, costUsd: cost_usd, isPriced },
      ]),
    ),
    edges: new Map(
      [...ways].flatMap(([key, same]) => {
        const [from, to, role, label] = same[0] ?? [];
        if (from === undefined || to === undefined) return [];
        if (role === undefined || label === undefined) return [];
        const count = mean(same.map((way) => way[4]));
        return [[key, { from, to, role, label, count }] as const];
      }),
    ),
    returns: new Map([...returns].map(([key, same]) => [key, mean(same.map(([, n]) => n))])),
  };
}

/**
 * The rest of a run, from where its agents are. Agents work at the same time, so their costs are
 * added, and the longest time counts.
 */
export function remainderOf(
  { agents }: Pick<Run, 'agents'>,
  standing: readonly Standing[],
  pasts: readonly PastRun[],
): Remainder {
  const unknown = { kind: 'unknown', runs: pasts.length, needed: NEEDED_RUNS } as const;
  if (pasts.length < NEEDED_RUNS || agents.size === 0) return unknown;
  const places = grouped(
    pasts.flatMap((past) => past.places),
    ([place]) => place,
  );
  let [runs, cost, time] = [pasts.length, NOTHING, NOTHING];
  for (const { agent, place, since } of standing) {
    const known = (places.get(place) ?? []).map(([, costUsd, timeMs]) => ({ costUsd, timeMs }));
    if (known.length < NEEDED_RUNS) return { ...unknown, runs: known.length, state: agent.state };
    const left = (pick: (after: After) => number) =>
      spreadOf(known.map((after) => Math.max(0, pick(after) - pick(since))));
    runs = Math.min(runs, known.length);
    cost = each(
      cost,
      left(({ costUsd }) => costUsd),
      (a, b) => a + b,
    );
    time = each(
      time,
      left(({ timeMs }) => timeMs),
      Math.max,
    );
  }
  const estimate = estimateIf(cost.high > 0 && pasts.some(({ isPriced }) => isPriced));
  return { kind: 'known', runs, cost_usd: cost, ...estimate, time_ms: time };
}

const NOTHING: Spread = { low: 0, median: 0, high: 0 };

function each(a: Spread, b: Spread, combine: (a: number, b: number) => number): Spread {
  return {
    low: combine(a.low, b.low),
    median: combine(a.median, b.median),
    high: combine(a.high, b.high),
  };
}
