/** How hot a state is: its part of the largest time, cost or number of visits. */
import type { RunGraph } from '../../src/draw/run-graph.ts';
import type { Forecast } from '../../src/forecast/forecast.ts';

const HEATS = ['none', 'time', 'cost', 'visits'] as const;
/** Of completed runs, so that also states are coloured that this run has not visited. */
const USUAL_HEATS = ['usual time', 'usual cost'] as const;
export type Heat = (typeof HEATS)[number] | (typeof USUAL_HEATS)[number];

export const heatsFor = (forecast: Forecast | undefined): readonly Heat[] =>
  forecast?.run ? [...HEATS, ...USUAL_HEATS] : HEATS;

type Node = RunGraph['nodes'][number];

/** From 0 to 1. The root makes small parts visible beside a large one. */
export function heatOf(
  nodes: readonly Node[],
  heat: Heat,
  forecast: Forecast | undefined,
): (node: Node) => number {
  const means = new Map(forecast?.states.map(({ node, mean }) => [node, mean]));
  const value = (node: Node) => VALUES[heat](node, means.get(node.id));
  const largest = nodes.reduce((most, node) => Math.max(most, value(node)), 0);
  return (node) => (largest > 0 ? Math.sqrt(value(node) / largest) : 0);
}

type Mean = Forecast['states'][number]['mean'] | undefined;

const VALUES: Readonly<Record<Heat, (node: Node, mean: Mean) => number>> = {
  none: () => 0,
  time: ({ time_ms }) => time_ms,
  cost: ({ cost_usd }) => cost_usd,
  visits: ({ visits }) => visits,
  'usual time': (_node, mean) => mean?.time_ms ?? 0,
  'usual cost': (_node, mean) => mean?.cost_usd ?? 0,
};
