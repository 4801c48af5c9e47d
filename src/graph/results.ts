import { type EdgeRole, edgesByEnd, type Graph, type GraphEdge } from './graph.ts';

export interface Results {
  /** By the node that returns the result. */
  readonly uses: ReadonlyMap<string, ResultUse>;
  /** The callees whose results lead to the one place where their caller continues. */
  readonly returning: ReadonlySet<string>;
  /** Where a parent continues after its children, by the node that starts them. */
  readonly joins: ReadonlyMap<string, readonly string[]>;
}

interface ResultUse {
  /** The nodes at which a caller or a parent continues. */
  readonly leads: ReadonlyMap<string, 'return' | 'join'>;
  /** Whether a result may also end the agent, or return to one of several callers. */
  readonly ends: boolean;
}

/** Where results lead. `shared` contains the nodes that several places enter. */
export function resultsOf(graph: Graph, shared: ReadonlySet<string>): Results {
  const { from: leaving } = edgesByEnd(graph.edges);
  const joins = joinsOf(graph, leaving);
  const uses = new Map<string, { readonly leads: Map<string, 'return' | 'join'>; ends: boolean }>();
  for (const { from, role } of graph.edges) {
    if (role === 'result') uses.set(from, { leads: new Map(), ends: false });
  }
  const returning = new Set<string>();
  for (const { entry, role, backs } of framesOf(graph, shared, joins)) {
    for (const id of reachOf(entry, leaving)) {
      const use = uses.get(id);
      if (!use) continue;
      if (backs.length === 0) use.ends = true;
      else returning.add(entry);
      for (const back of backs) use.leads.set(back, role);
    }
  }
  for (const use of uses.values()) if (use.leads.size === 0) use.ends = true;
  return { uses, returning, joins };
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

const ENTERS: ReadonlySet<EdgeRole> = new Set<EdgeRole>(['worker', 'judge', 'handover']);

type Leaving = ReadonlyMap<string, readonly GraphEdge[]>;

/** A state at which an agent or a call starts, and the nodes to which its results lead, if known. */
interface Frame {
  readonly entry: string;
  readonly role: 'return' | 'join';
  readonly backs: readonly string[];
}

/** The work for each frame grows with the graph, so only the first ones are followed. */
const MOST_FRAMES = 100;

function framesOf(
  { entry, edges, calls }: Graph,
  shared: ReadonlySet<string>,
  joins: Results['joins'],
): readonly Frame[] {
  const frames = new Map<string, Frame>([[entry, { entry, role: 'return', backs: [] }]]);
  const add = (id: string, role: Frame['role'], backs: readonly string[]) =>
    frames.set(id, { entry: id, role, backs: shared.has(id) ? [] : backs });
  for (const { from, to, role } of edges) {
    if (ENTERS.has(role)) add(to, 'join', role === 'worker' ? (joins.get(from) ?? []) : []);
  }
  for (const { callee, back } of calls) add(callee, 'return', [back]);
  return [...frames.values()].slice(0, MOST_FRAMES);
}

/** A state that starts children joins them itself, or leads to the states that do. */
function joinsOf({ edges }: Graph, leaving: Leaving): Results['joins'] {
  const parents = new Set(edges.flatMap(({ role, from }) => (role === 'worker' ? [from] : [])));
  const isJoin = new Set(edges.flatMap(({ role, from }) => (role === 'join' ? [from] : [])));
  if (isJoin.size === 0) return new Map();
  return new Map(
    [...parents].slice(0, MOST_FRAMES).map((parent) => {
      const joining = [...reachOf(parent, leaving, isJoin)].filter((id) => isJoin.has(id));
      const targets = joining.flatMap((id) =>
        (leaving.get(id) ?? []).flatMap(({ role, to }) => (role === 'join' ? [to] : [])),
      );
      return [parent, [...new Set(targets)]];
    }),
  );
}

/** The roles by which an agent stays in its frame. */
const MOVES: ReadonlySet<EdgeRole> = new Set<EdgeRole>([
  'go',
  'next',
  'answer',
  'timeout',
  'return',
  'join',
  'failed',
]);

/** The nodes that an agent reaches. It goes no further than the nodes in `last`. */
function reachOf(
  entry: string,
  leaving: Leaving,
  last: ReadonlySet<string> = new Set(),
): ReadonlySet<string> {
  const reached = new Set([entry]);
  // The loop also visits the nodes that are added while it runs.
  for (const id of reached) {
    if (last.has(id)) continue;
    for (const { to, role } of leaving.get(id) ?? []) if (MOVES.has(role)) reached.add(to);
  }
  return reached;
}
