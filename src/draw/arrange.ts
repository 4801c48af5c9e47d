/**
 * The graph of a run as a page shows it: from left to right where that leaves more room, and with
 * regions folded into their first state. Nothing is lost by that: a folded state has the agents, the time
 * and the cost of its region.
 */
import { placedIn } from './layout.ts';
import {
  LABEL_HEIGHT,
  type Layout,
  labelWidth,
  loopsReach,
  MARK_GAP,
  markWidth,
  type Point,
  type Space,
} from './layout-parts.ts';
import { rounded } from './lines.ts';
import type { Picture, PictureEdge } from './picture.ts';
import type { RunGraph } from './run-graph.ts';

type Node = RunGraph['nodes'][number];
type Edge = RunGraph['edges'][number];

export interface ShownNode extends Node {
  /** How many places are folded into it. */
  readonly folded?: number;
  /** Their ids. */
  readonly inside?: readonly string[];
}

export interface ShownGraph extends Omit<RunGraph, 'nodes'> {
  readonly nodes: readonly ShownNode[];
  /** From left to right, not from top to bottom. */
  readonly isAcross: boolean;
}

/** Computing the places costs more than the rest, and they stay the same while a run works. */
export class Arranger {
  readonly #places = new Map<string, Places>();

  shown(graph: RunGraph, folded: ReadonlySet<string>, isAcross: boolean): ShownGraph {
    const small = folded.size === 0 ? graph : withFolded(graph, folded);
    if (small === graph && !isAcross) return { ...graph, isAcross };
    const key = JSON.stringify([
      isAcross,
      ...small.nodes.map(({ id, width }) => [id, width]),
      ...small.edges.map(({ from, to, role }) => [from, to, role]),
    ]);
    const places = this.#places.get(key) ?? placesOf(small, isAcross);
    if (this.#places.size > MOST_PLACES) this.#places.clear();
    this.#places.set(key, places);
    return {
      ...small,
      ...{ isAcross, width: places.width, height: places.height },
      nodes: small.nodes.map((node, index) => ({ ...node, ...places.nodes[index] })),
      edges: small.edges.map((edge, index) => ({ ...edge, ...places.edges[index] })),
    };
  }
}

const MOST_PLACES = 20;

interface Places {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly (Point | undefined)[];
  readonly edges: readonly (Pick<Edge, 'points' | 'label_at'> | undefined)[];
}

function placesOf(graph: RunGraph, isAcross: boolean): Places {
  const picture: Picture = {
    ...{ name: graph.name, entry: graph.entry },
    nodes: graph.nodes.map(({ id, kind, shows }) => ({
      ...{ id, kind, result: undefined },
      shows: { id: shows, label: '', detail: '', kind: 'missing' },
    })),
    edges: graph.edges.map(({ from, to, role, label }) => ({
      ...{ from, to, role, label, taken: { from, to, role } },
    })),
  };
  const loops = new Map<string, number>();
  for (const { from, to } of graph.edges)
    if (from === to) loops.set(from, (loops.get(from) ?? 0) + 1);
  const spaces = new Map(
    graph.nodes.map((node) => [node.id, spaceOf(node, loops.get(node.id) ?? 0, isAcross)]),
  );
  const layout = placedIn(picture, spaces, ({ label }) => {
    const width = labelWidth(`${label} ${ROOM}`.trim());
    return isAcross ? { width: BESIDE_LINE, height: width } : { width, height: LABEL_HEIGHT };
  });
  const turn = ({ x, y }: Point) => {
    const [across, down] = isAcross ? [y, x] : [x, y];
    return { x: rounded(across), y: rounded(down) };
  };
  const boxes = new Map(layout.nodes.map((box) => [box.node.id, turn(box)]));
  const lines = new Map(layout.edges.map((line) => [line.edge, line]));
  const size = turned(layout, isAcross);
  return {
    ...size,
    nodes: graph.nodes.map(({ id }) => boxes.get(id)),
    edges: picture.edges.map((edge: PictureEdge) => {
      const line = lines.get(edge);
      return line && { points: line.points.map(turn), label_at: turn(line.labelAt) };
    }),
  };
}

/** Numbers grow while a run works, and nothing should move then. */
const ROOM = '888×';
/** A label is above a line that goes to the right. */
const BESIDE_LINE = 28;
const MARK_HEIGHT = 20;

const turned = ({ width, height }: Layout, isAcross: boolean) =>
  isAcross ? { width: height, height: width } : { width, height };

/** A drawing from left to right has its loops above the box, and its mark below. */
function spaceOf({ width, height, results }: Node, loops: number, isAcross: boolean): Space {
  const label = loops > 0 ? BESIDE_LINE : 0;
  if (isAcross)
    return {
      left: loopsReach(loops) + label,
      width: height,
      right: results === undefined ? 0 : MARK_GAP + MARK_HEIGHT,
      height: width,
    };
  return {
    left: loops > 0 ? loopsReach(loops) + labelWidth(ROOM) : 0,
    width,
    right: results === undefined ? 0 : MARK_GAP + markWidth(`result ${ROOM}`),
    height,
  };
}

/**
 * Parts of a graph, by the place that stays when its part is folded. A walk from the entry first comes to
 * a part through this place. A part is large enough to be worth folding, and small enough to stay a part.
 */
export function regionsOf(graph: RunGraph): ReadonlyMap<string, readonly string[]> {
  if (graph.nodes.length < WORTH_FOLDING) return new Map();
  const least = Math.max(SMALLEST_REGION, Math.ceil(graph.nodes.length / MOST_REGIONS));
  const { order, parents } = walked(graph);
  const open = new Map<string, string[]>();
  const regions = new Map<string, readonly string[]>();
  // From the ends to the entry: what a place has not folded belongs to the place before it.
  for (const id of order.toReversed()) {
    const own = open.get(id) ?? [];
    const parent = parents.get(id);
    const isRegion = own.length >= least || (parent === undefined && own.length > 0);
    if (isRegion) regions.set(id, own);
    if (parent === undefined) continue;
    if (!isRegion) open.set(parent, [...(open.get(parent) ?? []), id, ...own]);
  }
  return regions;
}

const WORTH_FOLDING = 24;
const SMALLEST_REGION = 4;
const MOST_REGIONS = 9;

/** The places in the order of a walk, and for each the one from which the walk came. */
function walked({ nodes, edges, entry }: RunGraph) {
  const leaving = new Map<string, string[]>(nodes.map(({ id }) => [id, []]));
  for (const { from, to } of edges) leaving.get(from)?.push(to);
  const order: string[] = [];
  const parents = new Map<string, string>();
  const seen = new Set<string>();
  for (const root of [entry, ...nodes.map(({ id }) => id)]) {
    const path = seen.has(root) || !leaving.has(root) ? [] : [root];
    for (let at = path.pop(); at !== undefined; at = path.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      order.push(at);
      for (const to of (leaving.get(at) ?? []).toReversed()) {
        if (seen.has(to) || !leaving.has(to)) continue;
        parents.set(to, at);
        path.push(to);
      }
    }
  }
  return { order, parents };
}

function withFolded(graph: RunGraph, folded: ReadonlySet<string>) {
  const regions = regionsOf(graph);
  const headOf = new Map<string, string>();
  for (const head of folded) for (const id of regions.get(head) ?? []) headOf.set(id, head);
  const seenAt = (id: string) => headOf.get(id) ?? id;
  const inside = new Map<string, Node[]>();
  for (const node of graph.nodes) {
    const head = seenAt(node.id);
    if (head !== node.id) inside.set(head, [...(inside.get(head) ?? []), node]);
  }
  const nodes = graph.nodes.flatMap((node): readonly ShownNode[] => {
    if (seenAt(node.id) !== node.id) return [];
    const own = inside.get(node.id);
    return [own === undefined ? node : whole(node, own)];
  });
  const edges = new Map<string, Edge>();
  for (const edge of graph.edges) {
    const [from, to] = [seenAt(edge.from), seenAt(edge.to)];
    // A way inside of a region is not seen, except that of a state to itself.
    if (from === to && edge.from !== edge.to) continue;
    if (from === to && headOf.has(edge.from)) continue;
    const key = JSON.stringify([from, to, edge.role]);
    const known = edges.get(key);
    const label = known && known.label !== edge.label ? '' : edge.label;
    const taken = edge.taken + (known?.taken ?? 0);
    edges.set(key, { ...edge, from, to, label, taken });
  }
  return { ...graph, nodes, edges: [...edges.values()] };
}

function whole(node: Node, inside: readonly Node[]): ShownNode {
  const sum = (of: 'time_ms' | 'cost_usd') =>
    inside.reduce((all, one) => all + (one.kind === 'reference' ? 0 : one[of]), node[of]);
  const ends = [node, ...inside].flatMap(({ results }) => results ?? []);
  const { results: _, ...rest } = node;
  return {
    ...rest,
    folded: inside.length,
    inside: inside.map(({ id }) => id),
    time_ms: sum('time_ms'),
    cost_usd: sum('cost_usd'),
    ...(ends.length > 0 && { results: ends.reduce((all, one) => all + one, 0) }),
    agents: [node, ...inside].flatMap(({ agents }) => agents),
  };
}
