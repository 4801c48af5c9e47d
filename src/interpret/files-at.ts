/** The stored files of a working tree at a moment. */
import type { Past, PastStep } from './past.ts';

interface FilesQuestion {
  /** The number of the first event after the moment. */
  readonly seq: number;
  /** The steps that worked in the tree, in the order of their starts. */
  readonly steps: readonly PastStep[];
}

/**
 * The id of the files at the moment. Undefined if none is known for certain: a step may have changed
 * files between the newest record and the moment.
 */
export function filesAt({ seq, steps }: FilesQuestion): string | undefined {
  const isOver = ({ ended }: PastStep) => ended !== undefined && ended < seq;
  const active = steps.some((step) => step.started < seq && !isOver(step));
  const next = steps.find(({ started }) => started >= seq);
  // The files before the next step are those of the moment, even if another step was running.
  if (next?.started === seq && next.before !== undefined) return next.before;
  if (active) return undefined;
  const over = steps.filter(isOver);
  const last = over.reduce<PastStep | undefined>(
    (newest, step) => ((step.ended ?? 0) > (newest?.ended ?? 0) ? step : newest),
    undefined,
  );
  return last?.after ?? next?.before;
}

/** The steps of each place, in the order of their starts. */
export function stepsByPlace(
  past: Past,
  placeOf: (step: PastStep) => string,
): ReadonlyMap<string, readonly PastStep[]> {
  const places = new Map<string, PastStep[]>();
  for (const step of past.steps) {
    const place = placeOf(step);
    const known = places.get(place);
    if (known) known.push(step);
    else places.set(place, [step]);
  }
  return places;
}
