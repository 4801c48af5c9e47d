/**
 * The graph of a run as plain data, for pages and programs: what is drawn, where it is drawn, what the
 * run did there, and which agents are there now.
 */
import * as z from 'zod/mini';
import { type AgentsAt, agentsAt } from '../graph/agents-at.ts';
import type { Graph } from '../graph/graph.ts';
import { fittedTo, type Overlay, timesTaken, useOf, withTaken } from '../graph/overlay.ts';
import type { Agent, Run } from '../model/run.ts';
import { visible } from '../model/visible.ts';
import { layoutOf } from './layout.ts';
import type { Layout, PlacedEdge, PlacedNode, Words } from './layout-parts.ts';
import { rounded } from './lines.ts';
import { LINE_ROLES, pictureOf } from './picture.ts';
import { wordsFor } from './words.ts';

const text = z.string();
const count = z.int().check(z.nonnegative());
const length = z.number();
const pointSchema = z.object({ x: length, y: length });

const agentSchema = z.object({
  id: text,
  status: z.enum(['ready', 'running', 'deciding', 'waiting', 'asking', 'joining', 'failed']),
});

const nodeSchema = z.object({
  id: text,
  kind: z.enum(['prompt', 'script', 'broken', 'workflow', 'missing', 'unknown', 'reference']),
  /** The id of the node that shows the state itself; another one only for a reference. */
  shows: text,
  /** The file name of the state; absent for other nodes. */
  state: z.optional(text),
  label: text,
  /** The label without its middle, if it is long. The box has room for it. */
  name: text,
  /** The kind of the node for a reader, with its settings. */
  detail: text,
  /** What its processes may touch; absent if the workflow does not limit it. */
  rights: z.optional(text),
  /** The centre of the box. */
  ...pointSchema.shape,
  width: length,
  height: length,
  visits: count,
  time_ms: count,
  cost_usd: z.number(),
  /** Present if part of the cost was computed from a price table. */
  cost_is_estimate: z.optional(z.literal(true)),
  /** How often an agent ended here, or returned to one of several callers; absent if it cannot. */
  results: z.optional(count),
  /** The agents that are here now, in the order of their names. */
  agents: z.readonly(z.array(agentSchema)),
});

const edgeSchema = z.object({
  from: text,
  to: text,
  role: z.enum(LINE_ROLES),
  /** Empty for a line that needs no label. */
  label: text,
  /** How often the run took this way. */
  taken: count,
  /** The corners of the line. A line from a node to itself is a curve through its three points. */
  points: z.readonly(z.array(pointSchema)),
  label_at: pointSchema,
});

export const runGraphSchema = z.object({
  name: text,
  /** The id of the node at which the run starts. */
  entry: text,
  width: length,
  height: length,
  nodes: z.readonly(z.array(nodeSchema)),
  edges: z.readonly(z.array(edgeSchema)),
  /** Agents at a state that the workflow no longer has. */
  elsewhere: z.readonly(z.array(agentSchema)),
});

export type RunGraph = z.infer<typeof runGraphSchema>;

/**
 * The positions of everything. Computing them costs far more than the rest, and they stay the same
 * during a run.
 */
export interface PlacedGraph {
  readonly graph: Graph;
  readonly layout: Layout;
  /** Names the content: two graphs with the same key have the same places. */
  readonly key: string;
}

/**
 * Places a graph with the ways that occur only in the run. `known` is the result of an earlier call for
 * the same workflow, and is returned if nothing has changed. Ask `tooLargeToDraw` first.
 */
export function placedGraph(own: Graph, overlay: Overlay, known?: PlacedGraph): PlacedGraph {
  const graph = withTaken(own, fittedTo(own, overlay));
  const added = graph.edges.slice(own.edges.length);
  const key = JSON.stringify(added.map(({ from, to, role }) => [from, to, role]));
  if (known?.key === key) return known;
  return { graph, layout: layoutOf(pictureOf(graph), ROOMY), key };
}

export function runGraph({ graph, layout }: PlacedGraph, overlay: Overlay, run: Run): RunGraph {
  const fitted = fittedTo(graph, overlay);
  const agents = agentsAt(graph, run);
  return {
    name: visible(graph.name),
    entry: graph.entry,
    width: rounded(layout.width),
    height: rounded(layout.height),
    nodes: layout.nodes.map((placed) => nodeData(placed, fitted, agents)),
    edges: layout.edges.map((placed) => edgeData(placed, fitted)),
    elsewhere: (agents.get(undefined) ?? []).map(agentData),
  };
}

const PLAIN = wordsFor(undefined);

/** Leaves room for the numbers of a run, so that nothing moves while they grow. */
const ROOMY: Words = {
  name: PLAIN.name,
  detail: (node) =>
    node.kind === 'reference' ? '' : longer(node.shows.detail, '888× · 58 min 58 s · $88.88'),
  result: () => 'result 888×',
  label: (edge) => `${PLAIN.label(edge)} 888×`.trim(),
};

const longer = (a: string, b: string) => (a.length > b.length ? a : b);

type NodeData = RunGraph['nodes'][number];

function nodeData(
  { node, x, y, width, height }: PlacedNode,
  overlay: Overlay,
  agents: AgentsAt,
): NodeData {
  const { id, kind, shows, result } = node;
  const use = useOf(overlay, shows.id);
  return {
    id,
    kind,
    shows: shows.id,
    ...('state' in shows && { state: shows.state }),
    label: visible(shows.label),
    name: visible(PLAIN.name(node)),
    detail: visible(shows.detail),
    ...(shows.rights !== undefined && { rights: visible(shows.rights) }),
    ...{ x: rounded(x), y: rounded(y), width, height },
    visits: use?.visits ?? 0,
    time_ms: use?.timeMs ?? 0,
    cost_usd: use?.costUsd ?? 0,
    ...(use?.isPriced && { cost_is_estimate: true as const }),
    ...(result && { results: timesTaken(overlay, result) }),
    // A state that is drawn at several places has its agents at its own place.
    agents: kind === 'reference' ? [] : (agents.get(shows.id) ?? []).map(agentData),
  };
}

function edgeData(
  { edge, points, labelAt }: PlacedEdge,
  overlay: Overlay,
): RunGraph['edges'][number] {
  const at = ({ x, y }: { readonly x: number; readonly y: number }) => ({
    x: rounded(x),
    y: rounded(y),
  });
  return {
    from: edge.from,
    to: edge.to,
    role: edge.role,
    label: PLAIN.label(edge),
    taken: timesTaken(overlay, edge.taken),
    points: points.map(at),
    label_at: at(labelAt),
  };
}

const agentData = ({ id, status }: Agent) => ({ id, status: status.kind });
