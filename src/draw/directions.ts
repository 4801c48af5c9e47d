import type { Picture, PictureEdge } from './picture.ts';

export interface Directions {
  /** The edges that lead up: to the entry, or to a node on the way to their start. */
  readonly backward: ReadonlySet<PictureEdge>;
  /** The edge by which the walk first reached each node. */
  readonly first: ReadonlySet<PictureEdge>;
  /** How many nodes are above a node, on the longest way. All edges but the backward ones lead down. */
  readonly ranks: ReadonlyMap<string, number>;
  /** When the walk reached a node. */
  readonly place: (id: string) => number;
}

/**
 * Walks from the entry and follows the edges in the author's order. So a workflow is drawn from its
 * entry downwards, and only loops lead up.
 */
export function directionsOf(picture: Picture): Directions {
  const { nodes, edges, entry } = picture;
  const leaving = new Map<string, PictureEdge[]>(nodes.map(({ id }) => [id, []]));
  const entered = new Set<string>();
  for (const edge of edges) {
    leaving.get(edge.from)?.push(edge);
    if (edge.from !== edge.to) entered.add(edge.to);
  }
  const backward = new Set<PictureEdge>();
  const first = new Set<PictureEdge>();
  const places = new Map<string, number>();
  const finished: string[] = [];
  const isOpen = new Set<string>();
  const open: { readonly id: string; readonly left: Iterator<PictureEdge> }[] = [];
  const enter = (id: string) => {
    places.set(id, places.size);
    isOpen.add(id);
    open.push({ id, left: (leaving.get(id) ?? [])[Symbol.iterator]() });
  };
  const walk = (root: string) => {
    if (places.has(root) || !leaving.has(root)) return;
    enter(root);
    for (let at = open.at(-1); at; at = open.at(-1)) {
      const { done, value: edge } = at.left.next();
      if (done) {
        isOpen.delete(at.id);
        finished.push(at.id);
        open.pop();
      } else if (isOpen.has(edge.to) || edge.to === entry) {
        backward.add(edge);
      } else if (!places.has(edge.to)) {
        first.add(edge);
        enter(edge.to);
      }
    }
  };
  walk(entry);
  for (const { id } of nodes) if (!entered.has(id)) walk(id);
  for (const { id } of nodes) walk(id);
  const downward = (id: string) => (leaving.get(id) ?? []).filter((edge) => !backward.has(edge));
  const ranks = ranksOf(entry, finished.reverse(), downward);
  return { backward, first, ranks, place: (id) => places.get(id) ?? 0 };
}

/** `order` has each node before the nodes that it leads down to. */
function ranksOf(
  entry: string,
  order: readonly string[],
  downward: (id: string) => readonly PictureEdge[],
): ReadonlyMap<string, number> {
  const ranks = new Map<string, number>();
  const rankOf = (id: string) => ranks.get(id) ?? 0;
  const isLed = new Set<string>();
  for (const id of order) {
    // The entry has a row to itself. Not even a state that nothing leads to is beside it.
    ranks.set(id, Math.max(rankOf(id), id === entry ? 0 : 1));
    for (const { to } of downward(id)) {
      ranks.set(to, Math.max(rankOf(to), rankOf(id) + 1));
      isLed.add(to);
    }
  }
  // A state that nothing leads to is placed above the first state that it leads to.
  for (const id of order) {
    const below = downward(id).map(({ to }) => rankOf(to) - 1);
    if (!isLed.has(id) && below.length > 0 && id !== entry) ranks.set(id, Math.min(...below));
  }
  return ranks;
}
