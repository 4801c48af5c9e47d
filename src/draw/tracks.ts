/** A line that changes its x between two rows. */
export interface Shift {
  /** Its x at the upper row, and at the lower one. */
  readonly above: number;
  readonly below: number;
}

/**
 * The track of each shift, counted from the upper row. Shifts that meet have different tracks, in an
 * order that keeps crossings few.
 */
export function tracksFor<T extends Shift>(shifts: readonly T[]): ReadonlyMap<T, number> {
  const order = ordered(shifts);
  const tracks = new Map<T, number>();
  for (const shift of order) {
    let track = 0;
    // The map contains the earlier ones.
    for (const [earlier, taken] of tracks) {
      if (taken >= track && meet(shift, earlier)) track = taken + 1;
    }
    tracks.set(shift, track);
  }
  return tracks;
}

/** More lines would take too long, and no reader could follow them. */
const MOST_ORDERED = 120;
const ROUNDS = 3;

function ordered<T extends Shift>(shifts: readonly T[]): readonly T[] {
  // Of two lines to the same side, the one that starts further on that side must be the upper one.
  const order = [...shifts].sort(
    (a, b) => side(a) - side(b) || side(a) * (b.above - a.above) || side(a) * (b.below - a.below),
  );
  if (order.length > MOST_ORDERED) return order;
  for (let round = 0; round < ROUNDS; round++) for (const shift of [...order]) sift(order, shift);
  return order;
}

/** Moves a shift to the place in the order at which it crosses the fewest others. */
function sift<T extends Shift>(order: T[], shift: T): void {
  const from = order.indexOf(shift);
  order.splice(from, 1);
  // Crossings are counted relative to the top.
  let best = { place: 0, gained: 0 };
  let gained = 0;
  for (const [index, other] of order.entries()) {
    gained += crossings(shift, other) - crossings(other, shift);
    if (gained > best.gained) best = { place: index + 1, gained };
  }
  order.splice(best.place, 0, shift);
}

const side = ({ above, below }: Shift) => Math.sign(below - above);

/** The crossings of two shifts when the first one is the upper one. */
function crossings(upper: Shift, lower: Shift): number {
  return Number(spans(upper, lower.above)) + Number(spans(lower, upper.below));
}

const NEAR = 6;

function spans({ above, below }: Shift, x: number): boolean {
  return x > Math.min(above, below) - NEAR && x < Math.max(above, below) + NEAR;
}

function meet(a: Shift, b: Shift): boolean {
  return spans(a, b.above) || spans(a, b.below) || spans(b, a.above);
}
