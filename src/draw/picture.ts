/**
 * A graph as a reader sees it. The results of a callee lead to where its caller continues. A state
 * that several places call is drawn once, and each place shows a reference to it. So no line crosses
 * the picture only to reach a function and to return.
 */
import {
  type Call,
  EDGE_ROLES,
  END,
  type Graph,
  type GraphEdge,
  type GraphNode,
} from '../graph/graph.ts';
import { grouped } from '../graph/grouped.ts';
import type { Taken } from '../graph/overlay.ts';
import { type Results, resultsOf, sharedNodes } from '../graph/results.ts';
import { unreachable } from '../model/unreachable.ts';
import { clip } from '../parse/clip.ts';

export interface Picture {
  readonly name: string;
  readonly entry: string;
  readonly nodes: readonly PictureNode[];
  readonly edges: readonly PictureEdge[];
}

export interface PictureNode {
  readonly id: string;
  readonly kind: Exclude<GraphNode['kind'], 'end'> | 'reference';
  /** The node of the graph that it shows or refers to. */
  readonly shows: GraphNode;
  /** A result that ends the agent, or returns to one of several callers. */
  readonly result: Taken | undefined;
}

/** A result is a mark at its node, or a return. */
export const LINE_ROLES = EDGE_ROLES.filter((role) => role !== 'result');
export type LineRole = (typeof LINE_ROLES)[number];

/** Edges of one role between the same two nodes are drawn as one. */
export interface PictureEdge {
  readonly from: string;
  readonly to: string;
  readonly role: LineRole;
  readonly label: string;
  readonly taken: Taken;
}

export function pictureOf(graph: Graph): Picture {
  const plan = planOf(graph);
  const nodes = new Map<string, PictureNode>();
  const edges = new Map<string, { readonly edge: PictureEdge; readonly labels: Set<string> }>();
  const place = (node: PictureNode | undefined) => {
    if (node && !nodes.has(node.id)) nodes.set(node.id, node);
  };
  for (const node of graph.nodes) if ('state' in node) place(nodeAt(plan, node.id, node.id));
  for (const { from, to, ...line } of graph.edges.flatMap((edge) => linesOf(plan, edge))) {
    if (!from || !to) continue;
    place(from);
    place(to);
    const key = JSON.stringify([from.id, to.id, line.role]);
    const known = edges.get(key);
    if (known) known.labels.add(line.label);
    else {
      const edge = { ...line, from: from.id, to: to.id };
      edges.set(key, { edge, labels: new Set([line.label]) });
    }
  }
  return {
    name: graph.name,
    entry: graph.entry,
    nodes: [...nodes.values()],
    edges: [...edges.values()].map(({ edge, labels }) => ({
      ...edge,
      label: clip([...labels].join(', ')),
    })),
  };
}

interface Plan extends Results {
  readonly nodes: ReadonlyMap<string, GraphNode>;
  readonly shared: ReadonlySet<string>;
  /** By caller and callee. */
  readonly calls: ReadonlyMap<string, readonly Call[]>;
  /** The returns of callers to which the results of callees lead. */
  readonly led: ReadonlySet<string>;
}

function planOf(graph: Graph): Plan {
  const shared = sharedNodes(graph);
  const results = resultsOf(graph, shared);
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const calls = grouped(graph.calls, ({ caller, callee }) => pair(caller, callee));
  const led = graph.calls.filter(
    ({ callee }) =>
      shared.has(callee) || results.returning.has(callee) || passesOn(nodes.get(callee)),
  );
  return {
    ...results,
    nodes,
    shared,
    calls,
    led: new Set(led.map(({ caller, back }) => pair(caller, back))),
  };
}

const pair = (from: string, to: string) => JSON.stringify([from, to]);

/** Whether a callee returns, although none of its states is known. */
function passesOn(node: GraphNode | undefined): boolean {
  return node?.kind === 'workflow' || node?.kind === 'unknown';
}

interface Line extends Omit<PictureEdge, 'from' | 'to'> {
  readonly from: PictureNode | undefined;
  readonly to: PictureNode | undefined;
}

function linesOf(plan: Plan, { from, to, role, label }: GraphEdge): readonly Line[] {
  const source = nodeAt(plan, from, from);
  const taken = { from, to, role };
  switch (role) {
    case 'call': {
      const known = plan.calls.get(pair(from, to));
      if (!known) return [{ from: source, to: calleeAt(plan, to, from, ''), role, label, taken }];
      return known.flatMap(({ back }): readonly Line[] => {
        const callee = calleeAt(plan, to, from, back);
        const call: Line = { from: source, to: callee, role, label, taken };
        if (!isKnownToReturn(callee)) return [call];
        const after = { caller: from, callee: to, to: back };
        const end = nodeAt(plan, back, from);
        return [call, { from: callee, to: end, role: 'return', label: 'return', taken: after }];
      });
    }
    case 'worker': {
      const child = calleeAt(plan, to, from, '');
      const start: Line = { from: source, to: child, role, label, taken };
      if (!isKnownToReturn(child)) return [start];
      const joins = (plan.joins.get(from) ?? []).map((back): Line => {
        const joined = { from, to: back, role: 'join' } as const;
        return {
          from: child,
          to: nodeAt(plan, back, from),
          role: 'join',
          label: '',
          taken: joined,
        };
      });
      return [start, ...joins];
    }
    case 'judge':
    case 'handover':
      return [{ from: source, to: calleeAt(plan, to, from, ''), role, label, taken }];
    case 'result':
      return [...(plan.uses.get(from)?.leads ?? [])].map(([back, how]) => ({
        from: source,
        to: nodeAt(plan, back, from),
        role: how,
        label,
        taken: { resultOf: from, to: back },
      }));
    case 'return':
      if (plan.led.has(pair(from, to))) return [];
      return [{ from: source, to: nodeAt(plan, to, from), role, label, taken }];
    case 'go':
    case 'next':
    case 'join':
    case 'failed':
    case 'answer':
    case 'timeout':
      return [{ from: source, to: nodeAt(plan, to, from), role, label, taken }];
    default:
      return unreachable(role);
  }
}

/** Whether what is drawn here stands for states that are not drawn here. */
function isKnownToReturn(node: PictureNode | undefined): boolean {
  return node?.kind === 'reference' || passesOn(node?.shows);
}

/** A state is drawn at one place, everything else beside each state that leads to it. */
function nodeAt({ nodes, uses }: Plan, id: string, from: string): PictureNode | undefined {
  const shows = nodes.get(id);
  if (!shows || shows.kind === 'end') return undefined;
  const ends = uses.get(id)?.ends === true;
  return {
    id: 'state' in shows ? id : `${id} of ${from}`,
    kind: shows.kind,
    shows,
    result: ends ? { from: id, to: END, role: 'result' } : undefined,
  };
}

function calleeAt(plan: Plan, id: string, from: string, back: string): PictureNode | undefined {
  const node = nodeAt(plan, id, from);
  if (!node || !('state' in node.shows) || !plan.shared.has(id)) return node;
  return { ...node, id: `${id} of ${from} ${back}`, kind: 'reference', result: undefined };
}
