/** An end of a line on the upper or lower side of a node. */
export interface End {
  /** Where the line would best touch the node. */
  readonly wanted: number;
}

/**
 * The points at which lines touch one side of a node, in the order of their origins. No two lines
 * share a point.
 */
export function portsOn<T extends End>(
  ends: readonly T[],
  centre: number,
  width: number,
): ReadonlyMap<T, number> {
  const reach = Math.max(0, width / 2 - CORNER);
  const gap = Math.min(WIDEST_GAP, (2 * reach) / Math.max(1, ends.length - 1));
  const [first, last] = [centre - reach, centre + reach];
  const sorted = [...ends].sort((a, b) => a.wanted - b.wanted);
  const places: number[] = [];
  for (const [index, { wanted }] of sorted.entries()) {
    const lowest = index === 0 ? first : (places[index - 1] ?? first) + gap;
    places.push(Math.max(lowest, Math.min(last, wanted)));
  }
  let highest = last;
  for (let index = places.length - 1; index >= 0; index--) {
    places[index] = Math.min(places[index] ?? last, highest);
    highest = (places[index] ?? last) - gap;
  }
  return new Map(sorted.map((end, index) => [end, places[index] ?? centre]));
}

const [CORNER, WIDEST_GAP] = [14, 10];
