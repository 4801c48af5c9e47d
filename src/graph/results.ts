import { type EdgeRole, edgesByEnd, type Graph, type GraphEdge } from './graph.ts';

export interface Results {
  /** By the node that gives the result. */
  readonly uses: ReadonlyMap<string, ResultUse>;
  /** The callees whose results lead to the one place where their caller continues. */
  readonly returning: ReadonlySet<string>;
}

export interface ResultUse {
  /** The nodes at which callers continue. */
  readonly backs: ReadonlySet<string>;
  /** Whether a result may also end the agent, or return to one of several callers. */
  readonly ends: boolean;
}

/** Where results lead. `shared` holds the nodes that several places enter. */
export function resultsOf(graph: Graph, shared: ReadonlySet<string>): Results {
  const { from: leaving } = edgesByEnd(graph.edges);
  const uses = new Map<string, { readonly backs: Set<string>; ends: boolean }>();
  for (const { from, role } of graph.edges) {
    if (role === 'result') uses.set(from, { backs: new Set(), ends: false });
  }
  const returning = new Set<string>();
  for (const { entry, back } of framesOf(graph, shared)) {
    for (const id of reachOf(entry, leaving)) {
      const use = uses.get(id);
      if (!use) continue;
      if (back === undefined) {
        use.ends = true;
      } else {
        use.backs.add(back);
        returning.add(entry);
      }
    }
  }
  for (const use of uses.values()) if (use.backs.size === 0) use.ends = true;
  return { uses, returning };
}

/** The nodes that are called, forked or asked from more than one place. */
export function sharedNodes({ calls, edges, entry }: Graph): ReadonlySet<string> {
  const places = new Map([[entry, '']]);
  const shared = new Set<string>();
  const enter = (id: string, place: string) => {
    if ((places.get(id) ?? place) !== place) shared.add(id);
    places.set(id, place);
  };
  for (const { caller, callee, back } of calls) enter(callee, JSON.stringify([caller, back]));
  for (const { from, to, role } of edges) if (ENTERS.has(role)) enter(to, JSON.stringify([from]));
  return shared;
}

/** A state at which an agent or a call starts, and where its results lead if that is one node. */
interface Frame {
  readonly entry: string;
  readonly back?: string;
}

function framesOf(graph: Graph, shared: ReadonlySet<string>): readonly Frame[] {
  const entered = graph.edges.filter(({ role }) => ENTERS.has(role)).map(({ to }) => to);
  const called = graph.calls.map(({ callee, back }): readonly [string, Frame] => [
    callee,
    shared.has(callee) ? { entry: callee } : { entry: callee, back },
  ]);
  const frames = new Map<string, Frame>([
    ...[graph.entry, ...entered].map((entry) => [entry, { entry }] as const),
    ...called,
  ]);
  return [...frames.values()].slice(0, MOST_FRAMES);
}

/** More than a reader can tell apart. The work for each of them grows with the graph. */
const MOST_FRAMES = 100;

const ENTERS: ReadonlySet<EdgeRole> = new Set<EdgeRole>(['worker', 'judge']);

/** The roles by which an agent stays in its frame. */
const MOVES: ReadonlySet<EdgeRole> = new Set<EdgeRole>([
  'go',
  'next',
  'answer',
  'timeout',
  'return',
]);

function reachOf(
  entry: string,
  leaving: ReadonlyMap<string, readonly GraphEdge[]>,
): ReadonlySet<string> {
  const reached = new Set([entry]);
  // The loop also visits the nodes that are added while it runs.
  for (const id of reached) {
    for (const { to, role } of leaving.get(id) ?? []) if (MOVES.has(role)) reached.add(to);
  }
  return reached;
}
