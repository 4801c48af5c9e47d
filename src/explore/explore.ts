import { statesHere } from '../graph/ways.ts';
import type { StateName } from '../model/state-name.ts';
import type { Workflow } from '../model/workflow.ts';
import { type Configuration, Walk, type WalkLimits } from './walk.ts';

interface Exploration {
  readonly walk: Walk;
  /** The number of different situations that were examined: a measure of the work. */
  readonly configurations: number;
  /** Whether a limit ended the walk. Then nothing is reported as impossible. */
  readonly boundHit: boolean;
  readonly states: {
    readonly reached: readonly StateName[];
    readonly missed: readonly StateName[];
  };
  readonly transitions: { readonly taken: number; readonly known: number };
  /** A shortest path to a state; undefined when it was not reached. */
  pathTo(state: StateName): readonly StateName[] | undefined;
}

/** Follows every path that a workflow's policies, prompts and scripts allow, by the rules of a real run. */
export function explore(workflow: Workflow, limits: Partial<WalkLimits> = {}): Exploration {
  const walk = new Walk(workflow, { ...DEFAULT_LIMITS, ...limits });
  const first = new Map<StateName, Configuration>();
  for (const configuration of walk.configurations.values()) {
    if (!first.has(configuration.state)) first.set(configuration.state, configuration);
  }
  const all = statesHere(workflow).map(({ name }) => name);
  const ways = new Set(all.flatMap((name) => walk.waysFrom(name)));
  return {
    walk,
    configurations: walk.configurations.size,
    boundHit: walk.boundHit,
    states: {
      reached: all.filter((name) => first.has(name)),
      missed: all.filter((name) => !first.has(name)),
    },
    transitions: { taken: walk.taken.size, known: ways.size },
    pathTo: (state) => pathTo(first.get(state)),
  };
}

export const DEFAULT_LIMITS: WalkLimits = {
  maxDepth: 10_000,
  maxConfigurations: 20_000,
  maxChoices: 200_000,
};

function pathTo(configuration: Configuration | undefined): readonly StateName[] | undefined {
  if (!configuration) return undefined;
  const path: StateName[] = [];
  for (let at: Configuration | undefined = configuration; at; at = at.previous) path.push(at.state);
  return path.reverse();
}
