import type { Diagnostic } from '../model/diagnostic.ts';
import type { StateName } from '../model/state-name.ts';
import type { Workflow } from '../model/workflow.ts';
import { flowFaults } from './flow-faults.ts';
import { type Configuration, Walk, type WalkLimits } from './walk.ts';
import { statesHere } from './ways.ts';

export interface Exploration {
  readonly findings: readonly Diagnostic[];
  /** How many different situations were looked at: the measure of the work. */
  readonly configurations: number;
  /** Whether a limit ended the walk; then nothing is said to be impossible. */
  readonly boundHit: boolean;
  readonly states: {
    readonly reached: readonly StateName[];
    readonly missed: readonly StateName[];
  };
  readonly transitions: { readonly taken: number; readonly known: number };
  /** A shortest path to each state that was reached. */
  readonly paths: ReadonlyMap<StateName, readonly StateName[]>;
}

/** Walks every path that a workflow's policies, prompts and scripts allow, by the rules of a real run. */
export function explore(workflow: Workflow, limits: Partial<WalkLimits> = {}): Exploration {
  const walk = new Walk(workflow, { ...DEFAULT_LIMITS, ...limits });
  const paths = new Map<StateName, readonly StateName[]>();
  for (const configuration of walk.configurations.values()) {
    const { state } = configuration;
    if (!paths.has(state)) paths.set(state, pathTo(configuration));
  }
  const all = statesHere(workflow).map(({ name }) => name);
  const ways = new Set(all.flatMap((name) => walk.waysFrom(name)));
  return {
    findings: flowFaults(workflow, walk),
    configurations: walk.configurations.size,
    boundHit: walk.boundHit,
    states: {
      reached: all.filter((name) => paths.has(name)),
      missed: all.filter((name) => !paths.has(name)),
    },
    transitions: { taken: walk.taken.size, known: ways.size },
    paths,
  };
}

export const DEFAULT_LIMITS: WalkLimits = { maxDepth: 10_000, maxConfigurations: 20_000 };

function pathTo(configuration: Configuration): readonly StateName[] {
  const path: StateName[] = [];
  for (let at: Configuration | undefined = configuration; at; at = at.previous) path.push(at.state);
  return path.reverse();
}
