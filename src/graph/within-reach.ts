import type { StateName } from '../model/state-name.ts';
import type { Workflow } from '../model/workflow.ts';
import { edgesByEnd, type Graph, graphOf, stateNode } from './graph.ts';

/** The states that an agent could reach according to the workflow's text. Includes broken ones. */
export function withinReach(workflow: Workflow): readonly StateName[] {
  const graph = graphOf(workflow);
  return statesIn(graph, reachedFrom(graph, [graph.entry]));
}

/** The same, from its entry and from other states. All of them, if a target is chosen while the run works. */
export function withinReachOf(
  workflow: Workflow,
  from: readonly StateName[],
): readonly StateName[] {
  const graph = graphOf(workflow);
  const reached = reachedFrom(graph, [graph.entry, ...from.map(stateNode)]);
  const isOpen = graph.nodes.some(({ id, kind }) => kind === 'unknown' && reached.has(id));
  return isOpen ? [...workflow.states.keys()] : statesIn(graph, reached);
}

function reachedFrom({ edges }: Graph, starts: readonly string[]): ReadonlySet<string> {
  const { from: leaving } = edgesByEnd(edges);
  const reached = new Set(starts);
  const open = [...reached];
  for (let from = open.pop(); from !== undefined; from = open.pop()) {
    for (const { to } of leaving.get(from) ?? []) {
      if (reached.has(to)) continue;
      reached.add(to);
      open.push(to);
    }
  }
  return reached;
}

function statesIn({ nodes }: Graph, reached: ReadonlySet<string>): readonly StateName[] {
  return nodes.flatMap((node) => (reached.has(node.id) && 'state' in node ? [node.state] : []));
}
