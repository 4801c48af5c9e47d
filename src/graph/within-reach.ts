import type { StateName } from '../model/state-name.ts';
import type { Workflow } from '../model/workflow.ts';
import { edgesByEnd, graphOf } from './graph.ts';

/** The states that an agent could reach according to the workflow's text. Includes broken ones. */
export function withinReach(workflow: Workflow): readonly StateName[] {
  const { nodes, edges, entry } = graphOf(workflow);
  const { from: leaving } = edgesByEnd(edges);
  const reached = new Set([entry]);
  const open = [entry];
  for (let from = open.pop(); from !== undefined; from = open.pop()) {
    for (const { to } of leaving.get(from) ?? []) {
      if (reached.has(to)) continue;
      reached.add(to);
      open.push(to);
    }
  }
  return nodes.flatMap((node) => (reached.has(node.id) && 'state' in node ? [node.state] : []));
}
