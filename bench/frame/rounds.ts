import type { BenchCase, Measures } from './case.ts';
import type { Orchestrator } from './orchestrator.ts';
import type { Series } from './result.ts';

export interface Rounds {
  readonly floor: Series;
  readonly ours: Series;
  /** A failure of another orchestrator is a result. */
  readonly others: Readonly<Record<string, Series | { readonly failure: string }>>;
}

const ROUNDS = 5;

/**
 * Floor, ours and others take turns, and every second round has the opposite order. So a change of
 * the machine's load meets all of them.
 */
export async function measureRounds(
  { rounds = ROUNDS }: Pick<BenchCase, 'rounds'>,
  measures: Measures,
  raymond: Orchestrator,
  others: readonly Orchestrator[],
): Promise<Rounds> {
  const floor: number[] = [];
  const ours: number[] = [];
  const theirs = new Map<string, number[] | { readonly failure: string }>(
    others.map(({ name }) => [name, []]),
  );
  const turns = [
    async () => void floor.push(await measures.floor()),
    async () => void ours.push(await measures.ours(raymond)),
    ...others.map((other) => async () => {
      const values = theirs.get(other.name);
      if (!Array.isArray(values)) return;
      try {
        values.push(await measures.ours(other));
      } catch (error) {
        theirs.set(other.name, { failure: messageOf(error) });
      }
    }),
  ];
  for (let round = 0; round < rounds; round++) {
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn();
  }
  return {
    floor: seriesOf(floor),
    ours: seriesOf(ours),
    others: Object.fromEntries(
      [...theirs].map(([name, values]) => [
        name,
        Array.isArray(values) ? seriesOf(values) : values,
      ]),
    ),
  };
}

/** The spread is the distance of the median from the least, as a share of the least. */
export function seriesOf(values: readonly number[]): Series {
  const sorted = values.toSorted((a, b) => a - b);
  const least = sorted[0] ?? Number.NaN;
  const median = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  return { least: rounded(least), spread: rounded(median / least - 1), rounds: sorted.length };
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
