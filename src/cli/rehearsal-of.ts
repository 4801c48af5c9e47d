import { type SkippingClock, skippingClock } from '../host/skipping-clock.ts';
import type { Run } from '../model/run.ts';
import type { CarriedHere } from './carry-here.ts';

/** The replies of a rehearsal, and a clock that does not wait; undefined if the run is none. */
export function rehearsalOf(
  run: Run,
  { around, executors }: Pick<CarriedHere, 'around' | 'executors'>,
): { readonly replies: readonly string[]; readonly clock: SkippingClock } | undefined {
  if (!executors.rehearsal) return undefined;
  const { replies } = executors.rehearsal;
  return { replies, clock: skippingClock(around.clock, run.updatedAt) };
}
