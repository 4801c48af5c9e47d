/** How hot a state is: its part of the largest time, cost or number of visits. */
import type { RunGraph } from '../../src/draw/run-graph.ts';

export const HEATS = ['none', 'time', 'cost', 'visits'] as const;
export type Heat = (typeof HEATS)[number];

type Node = RunGraph['nodes'][number];

/** From 0 to 1. The root makes small parts visible beside a large one. */
export function heatOf(nodes: readonly Node[], heat: Heat): (node: Node) => number {
  const value = VALUES[heat];
  const largest = nodes.reduce((most, node) => Math.max(most, value(node)), 0);
  return (node) => (largest > 0 ? Math.sqrt(value(node) / largest) : 0);
}

const VALUES: Readonly<Record<Heat, (node: Node) => number>> = {
  none: () => 0,
  time: ({ time_ms }) => time_ms,
  cost: ({ cost_usd }) => cost_usd,
  visits: ({ visits }) => visits,
};
