import * as z from 'zod/mini';

/** The middle of some values, and the range in which half of them are. */
export const spreadSchema = z.object({ low: z.number(), median: z.number(), high: z.number() });

export type Spread = z.infer<typeof spreadSchema>;

/** The values may be in any order. All results are 0 if there are no values. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  return { low: at(sorted, 0.25), median: at(sorted, 0.5), high: at(sorted, 0.75) };
}

/** The quantile of sorted values. Interpolates between two neighbours. */
function at(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1);
  const [below, above] = [sorted[Math.floor(place)] ?? 0, sorted[Math.ceil(place)] ?? 0];
  return below + (above - below) * (place - Math.floor(place));
}
