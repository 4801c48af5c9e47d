/** The most that a run of a workflow can use: prompts, agents, dollars and time. */
import * as z from 'zod/mini';
import { MOST_AGENTS, MOST_FORKS } from '../interpret/ceilings.ts';
import type { Workflow } from '../model/workflow.ts';
import { type Machine, machineOf, type Node, type Others, type Place } from './machine.ts';
import { type Loop, type Most, mostOf, type Weights } from './most.ts';
import { worstPaths } from './paths.ts';

const count = z.int().check(z.nonnegative());
const text = z.string();
const texts = z.readonly(z.array(text));

const figuresSchema = z.object({
  /** null: no limit, or unknown. */
  prompts: z.nullable(count),
  cost_usd: z.nullable(z.number()),
  time_ms: z.nullable(z.number()),
});

export const boundSchema = z.object({
  ...figuresSchema.shape,
  /** If every prompt fails and is repeated as often as Raymond repeats it. */
  prompts_with_retries: z.nullable(count),
  agents: count,
  /** Where the dollars come from. */
  price: z.discriminatedUnion('from', [
    z.object({ from: z.literal('turn'), usd: z.number() }),
    z.object({ from: z.literal('runs'), runs: count }),
    /** `states` are those whose cost is unknown, although there are finished runs. */
    z.object({ from: z.literal('nothing'), runs: count, states: texts }),
  ]),
  /** Loops in which prompts can repeat without a limit, with one of their states to limit. */
  loops: z.readonly(
    z.array(
      z.object({ by: z.enum(['move', 'call', 'fork']), states: texts, limit: z.nullable(text) }),
    ),
  ),
  /** What the text of the workflow does not say. Then nothing has a bound. */
  unknown: z.readonly(
    z.array(
      z.object({ kind: z.enum(['target', 'workflow']), state: text, path: z.optional(text) }),
    ),
  ),
  /** States that decide by themselves how many agents they start. */
  forking: texts,
  /** Prompts without allowed_transitions. */
  free: texts,
  /** States that wait for a person without a deadline. */
  asking: texts,
  /** The worst ones, worst first. */
  paths: z.readonly(
    z.array(
      z.object({
        ...figuresSchema.shape,
        steps: z.readonly(
          z.array(
            z.object({
              kind: z.enum(['state', 'loop', 'call', 'fork']),
              states: texts,
              /** The most agents that it starts. */
              agents: z.optional(count),
            }),
          ),
        ),
      }),
    ),
  ),
});

export type Bound = z.infer<typeof boundSchema>;

export interface Usual {
  /** The number of finished runs. */
  readonly runs: number;
  /** By state: the most of a visit in a finished run of the workflow itself. */
  readonly visits: ReadonlyMap<string, { readonly usd: number; readonly ms: number }>;
}

export interface BoundOptions {
  readonly others?: Others;
  /** Limits of the run that its user has set. */
  readonly maxAgents?: number | undefined;
  readonly maxIterations?: number | undefined;
  /** The price of a turn. */
  readonly turnUsd?: number | undefined;
  readonly usual?: Usual | undefined;
}

/** What an agent tries again after a failure that is not its own. */
export const MOST_RETRIES = 3;

export function boundOf(workflow: Workflow, options: BoundOptions = {}): Bound {
  const machine = machineOf(workflow, options.others);
  const own = figureOf(machine, options, TURNS);
  const price = priceOf(machine, workflow, options);
  const costs = price.weigh && figureOf(machine, options, { own: price.weigh, child: 0 });
  const known = timesOf(machine, workflow, options);
  const times = known && figureOf(machine, options, { own: known, child: 0 });
  const most = { prompts: own, cost_usd: costs, time_ms: times };
  const hasFigures = isKnown(machine, options);
  const shown = (figure: Figure | undefined) => (hasFigures && figure ? finite(figure.most) : null);
  const prompts = shown(own);
  const labels = (places: readonly Place[]) => [...new Set(places.map(({ label }) => label))];
  return {
    prompts,
    prompts_with_retries: prompts === null ? null : prompts * (1 + MOST_RETRIES),
    agents: agentsOf(machine, options),
    cost_usd: shown(costs),
    time_ms: shown(times),
    price: price.shown,
    loops: own.all.loops.map((loop) => shownLoop(machine, loop)),
    unknown: machine.unknown.map(({ kind, label, path }) => ({
      ...{ kind, state: label },
      ...(path !== undefined && { path }),
    })),
    forking: labels(machine.forking),
    free: labels(machine.free),
    asking: labels(machine.asking),
    paths: worstPaths(
      machine,
      own.all,
      mapped(most, (figure) => figure?.all),
    ).map(({ steps, used }) => ({
      ...mapped(used, (one, name) => {
        const figure = most[name];
        return hasFigures && one !== undefined && figure
          ? finite(Math.min(one, figure.most))
          : null;
      }),
      steps,
    })),
  };
}

/** The prompts and agents alone, if they are known. */
export function countsOf(
  workflow: Workflow,
  options: BoundOptions,
): Pick<Bound, 'prompts' | 'agents'> | undefined {
  const machine = machineOf(workflow, options.others);
  if (!isKnown(machine, options)) return undefined;
  return {
    prompts: finite(figureOf(machine, options, TURNS).most),
    agents: agentsOf(machine, options),
  };
}

function agentsOf(machine: Machine, options: BoundOptions): number {
  const { most } = figureOf(machine, options, { own: () => 0, child: 1 });
  return Math.min(most, options.maxAgents ?? MOST_AGENTS);
}

const isKnown = ({ unknown }: Machine, { maxIterations = 0 }: BoundOptions) =>
  unknown.length === 0 || maxIterations > 0;

/** The loops of a workflow in which prompts can repeat without a limit. */
export function loopsOf(workflow: Workflow): Bound['loops'] {
  const machine = machineOf(workflow, undefined, { someLimits: true });
  return mostOf(machine, TURNS).loops.map((loop) => shownLoop(machine, loop));
}

/** Nested calls and forks can double a figure so often that it means nothing any more. */
const finite = (most: number) => (most > Number.MAX_SAFE_INTEGER ? null : most);

const turns = (node: Node) => node.turns.reduce((sum, { count }) => sum + count, 0);

const TURNS: Weights = { own: turns, child: 0 };

export type Measure = 'prompts' | 'cost_usd' | 'time_ms';

export type PerMeasure<T> = Readonly<Record<Measure, T>>;

function mapped<T, U>(from: PerMeasure<T>, to: (one: T, name: Measure) => U): PerMeasure<U> {
  return {
    prompts: to(from.prompts, 'prompts'),
    cost_usd: to(from.cost_usd, 'cost_usd'),
    time_ms: to(from.time_ms, 'time_ms'),
  };
}

interface Figure {
  readonly most: number;
  /** Without the limits of the run. */
  readonly all: Most;
}

/** The limits of a run hold for all of its agents together, whatever each of them could do alone. */
function figureOf(
  machine: Machine,
  { maxAgents, maxIterations }: BoundOptions,
  weights: Weights,
): Figure {
  const all = mostOf(machine, weights);
  const { child } = weights;
  const isAnywhere = machine.unknown.length > 0;
  let most = isAnywhere ? Infinity : child + (all.total[machine.entry] ?? 0);
  if (!isAnywhere && (all.loops.length === 0 || maxAgents !== undefined)) {
    const others = (maxAgents ?? MOST_AGENTS) - 1;
    const alone = mostOf(machine, weights, others);
    const children = machine.nodes.flatMap(({ forks }) => forks.flatMap(({ to }) => to));
    const used = (at: number) => child + Math.max(0, alone.total[at] ?? 0);
    const each = children.reduce((least, at) => Math.max(least, used(at)), 0);
    most = Math.min(most, used(machine.entry) + (others > 0 && each > 0 ? others * each : 0));
  }
  if (maxIterations !== undefined && maxIterations > 0) {
    const dearest = machine.nodes.reduce((least, node) => Math.max(least, weights.own(node)), 0);
    most = Math.min(most, child + maxIterations * (dearest + child * MOST_FORKS));
  }
  return { most, all };
}

function priceOf(machine: Machine, workflow: Workflow, { turnUsd, usual }: BoundOptions) {
  if (turnUsd !== undefined) {
    const weigh = (node: Node) => turnUsd * turns(node);
    return { weigh, shown: { from: 'turn', usd: turnUsd } as const };
  }
  const runs = usual?.runs ?? 0;
  const usdOf = ({ place }: Node) =>
    place?.workflow === workflow.ref ? usual?.visits.get(place.state)?.usd : undefined;
  const unpriced = machine.nodes.filter((node) => turns(node) > 0 && usdOf(node) === undefined);
  // Scripts cost nothing.
  if (unpriced.length > 0) {
    const states = runs === 0 ? [] : unpriced.flatMap(({ place }) => place?.label ?? []);
    return { shown: { from: 'nothing', runs, states } as const };
  }
  return { weigh: (node: Node) => usdOf(node) ?? 0, shown: { from: 'runs', runs } as const };
}

/** No limit ends a step that works, so only finished runs say how long it takes. */
function timesOf({ nodes }: Machine, workflow: Workflow, { usual }: BoundOptions) {
  const msOf = ({ place }: Node) => {
    if (!place) return 0;
    return place.workflow === workflow.ref ? usual?.visits.get(place.state)?.ms : undefined;
  };
  if (!usual || usual.runs === 0 || nodes.some((node) => msOf(node) === undefined))
    return undefined;
  return (node: Node) => msOf(node) ?? 0;
}

function shownLoop({ nodes }: Machine, { nodes: loop, by }: Loop): Bound['loops'][number] {
  const states = loop
    .flatMap((at) => nodes[at] ?? [])
    .map((node) =>
      node.callee === undefined || by === 'call' ? node : (nodes[node.callee] ?? node),
    )
    .filter(({ place }) => place !== undefined);
  const paid = states.find((node) => turns(node) > 0) ?? states[0];
  return {
    by,
    states: states.flatMap(({ place }) => place?.label ?? []),
    limit: by === 'fork' ? null : (paid?.place?.label ?? null),
  };
}
