/**
 * The axis of a timeline. Long times in which no step ran are cut, because a night without an answer
 * would leave no room for the work.
 */
import type { Span } from '../history/span.ts';

export interface Axis {
  readonly from: number;
  readonly to: number;
  /** From 0 at the start to 1 at the end. */
  place(time: number): number;
  /** The time at a position. */
  timeAt(place: number): number;
  readonly cuts: readonly Cut[];
}

/** A rest that is drawn shorter than it was. */
interface Cut {
  readonly from: number;
  readonly to: number;
}

type TimeSpan = Pick<Span, 'kind' | 'from' | 'to'>;

export function axisOf(startedAt: number, spans: readonly TimeSpan[]): Axis {
  const to = spans.reduce((latest, span) => Math.max(latest, span.to), startedAt);
  const busy = mergedWork(spans);
  const workedMs = busy.reduce((sum, one) => sum + one.to - one.from, 0);
  const rests = restsBetween(startedAt, to, busy);
  const cuts = rests.filter((rest) => lengthOf(rest) > Math.max(1_000, workedMs * LONG_REST));
  return axisWithCuts(startedAt, to, cuts);
}

/** The axis of a time whose cuts are known. */
export function axisWithCuts(from: number, to: number, cuts: readonly Cut[]): Axis {
  const keptMs = to - from - cuts.reduce((sum, cut) => sum + lengthOf(cut), 0);
  // Limits the share of the axis that all cuts take together.
  const share = Math.min(CUT_SHARE, MOST_FOR_CUTS / Math.max(1, cuts.length));
  const cutMs = (Math.max(keptMs, 1) * share) / (1 - share * cuts.length);
  const pieces = piecesOf(from, to, cuts, cutMs);
  const whole = Math.max(pieces.at(-1)?.end ?? 0, 1);
  return {
    from,
    to,
    cuts,
    place: (time) => drawn(pieces, Math.min(Math.max(time, from), to)) / whole,
    timeAt: (place) => undrawn(pieces, place * whole, to),
  };
}

/** A rest is cut if it is longer than this part of the work. */
const LONG_REST = 0.15;
const CUT_SHARE = 0.04;
const MOST_FOR_CUTS = 0.3;

interface Interval {
  readonly from: number;
  readonly to: number;
}

const lengthOf = ({ from, to }: Interval) => to - from;

/** The times in which at least one step ran, in order. */
function mergedWork(spans: readonly TimeSpan[]): readonly Interval[] {
  const work = spans.filter(({ kind }) => kind === 'work').toSorted((a, b) => a.from - b.from);
  const merged: { from: number; to: number }[] = [];
  for (const { from, to } of work) {
    const last = merged.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return merged;
}

function restsBetween(from: number, to: number, busy: readonly Interval[]): readonly Interval[] {
  const starts = [from, ...busy.map((one) => one.to)];
  const ends = [...busy.map((one) => one.from), to];
  return starts.flatMap((start, i) => {
    const end = ends[i] ?? to;
    return end > start ? [{ from: start, to: end }] : [];
  });
}

/** A part of the axis with one scale: from `start` to `end`, in drawn milliseconds. */
interface Piece extends Interval {
  readonly start: number;
  readonly end: number;
}

function piecesOf(from: number, to: number, cuts: readonly Cut[], cutMs: number): readonly Piece[] {
  const pieces: Piece[] = [];
  let [time, at] = [from, 0];
  const add = (until: number, length: number) => {
    pieces.push({ from: time, to: until, start: at, end: at + length });
    [time, at] = [until, at + length];
  };
  for (const cut of cuts) {
    if (cut.from > time) add(cut.from, cut.from - time);
    add(cut.to, cutMs);
  }
  if (to > time) add(to, to - time);
  return pieces;
}

function drawn(pieces: readonly Piece[], time: number): number {
  let [low, high] = [0, pieces.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pieces[middle]?.to ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  const piece = pieces[low];
  if (!piece) return 0;
  const part = (time - piece.from) / Math.max(1, lengthOf(piece));
  return piece.start + part * (piece.end - piece.start);
}

function undrawn(pieces: readonly Piece[], at: number, latest: number): number {
  const piece = pieces.find(({ end }) => at <= end);
  if (!piece) return latest;
  const part = (at - piece.start) / Math.max(1, piece.end - piece.start);
  return Math.round(piece.from + part * lengthOf(piece));
}
