/** Compares the variants of a workflow: each by itself, and each with the workflow as it is, pair by pair. */
import { type Spread, spreadOf } from '../forecast/spread.ts';
import { type PairedEvidence, pairedEvidence } from './paired.ts';

/** What was measured of one run. */
export interface MeasuredRun {
  readonly case: string;
  /** Empty for the workflow as it is. */
  readonly variant: string;
  readonly number: number;
  /** By the names of measures. A measure that is missing is not known. */
  readonly values: Readonly<Record<string, number>>;
}

export interface Summary extends Spread {
  readonly runs: number;
  readonly mean: number;
}

/** The accepted chance that anything in one comparison is an error. */
export const LEVEL = 0.05;

/**
 * Several comparisons share the accepted chance of an error (Bonferroni): with ten of them, four
 * in ten evals would otherwise show a difference that does not exist.
 */
export const levelFor = (comparisons: number): number => LEVEL / Math.max(1, comparisons);

/** Undefined if nothing was measured. */
export function summaryOf(
  runs: readonly MeasuredRun[],
  variant: string,
  measure: string,
): Summary | undefined {
  const values = runs.flatMap((run) =>
    run.variant === variant ? (run.values[measure] ?? []) : [],
  );
  if (values.length === 0) return undefined;
  const mean = values.reduce((all, one) => all + one, 0) / values.length;
  return { runs: values.length, mean, ...spreadOf(values) };
}

/** The differences of `runs` from `before`: the same case, the same repetition. */
export function comparedWith(
  before: readonly MeasuredRun[],
  runs: readonly MeasuredRun[],
  measure: string,
  level: number,
): PairedEvidence {
  const known = new Map(before.map((run) => [pairOf(run), run.values[measure]]));
  const differences = runs.flatMap((run) => {
    const [now, then] = [run.values[measure], known.get(pairOf(run))];
    return now === undefined || then === undefined ? [] : [now - then];
  });
  return pairedEvidence(differences, level);
}

const pairOf = ({ case: name, number }: MeasuredRun) => JSON.stringify([name, number]);

/** The number of cases from which the pairs come: they say nothing about other cases. */
export const casesOf = (runs: readonly MeasuredRun[]): number =>
  new Set(runs.map((run) => run.case)).size;
