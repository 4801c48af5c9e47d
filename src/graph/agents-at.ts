import type { Agent, Run } from '../model/run.ts';
import { type Graph, stateNode } from './graph.ts';
import { grouped } from './grouped.ts';
import { shortId, usedNode } from './overlay.ts';

/** By the id of a node; `undefined` for agents at a state that the graph does not have. */
export type AgentsAt = ReadonlyMap<string | undefined, readonly Agent[]>;

/**
 * Where the agents of a run are in the graph of its workflow, in the order of their names. An agent in
 * another workflow is at the node of that workflow, or of the workflow that called it.
 */
export function agentsAt(graph: Graph, run: Run): AgentsAt {
  const ids = new Map<string, string>();
  for (const { id } of graph.nodes) if (!ids.has(shortId(id))) ids.set(shortId(id), id);
  const agents = [...run.agents].map(([, agent]) => agent);
  const sorted = agents.sort((a, b) => (a.id < b.id ? -1 : 1));
  return grouped(sorted, (agent) => nodeOf(agent, run.workflow, ids));
}

function nodeOf(
  { workflow, state, stack }: Agent,
  root: string,
  ids: ReadonlyMap<string, string>,
): string | undefined {
  if (workflow === root) return ids.get(stateNode(state));
  const callers = stack.map((frame) => frame.workflow).filter((caller) => caller !== root);
  for (const other of [workflow, ...callers.toReversed()]) {
    const id = ids.get(usedNode(root, { workflow: other, state }));
    if (id !== undefined) return id;
  }
  return undefined;
}
