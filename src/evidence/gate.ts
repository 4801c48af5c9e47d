/** Decides whether a workflow is good enough, for a build server. */
import { comparedWith, levelFor, type MeasuredRun, summaryOf } from './compare.ts';
import { evidenceText, scoreText } from './evidence-text.ts';
import { verdictOf } from './paired.ts';

export interface Gate {
  /** The least mean, by scorer. */
  readonly least?: Readonly<Record<string, number>> | undefined;
  /** Runs of an earlier time. */
  readonly baseline?: readonly MeasuredRun[] | undefined;
  /** A mean may be lower than that of the baseline by this much. Without it, a lower one must show. */
  readonly margin?: number | undefined;
}

export interface GateCheck {
  readonly what: string;
  readonly passed: boolean;
  readonly why: string;
}

/** `expected` is the number of runs that there should be. */
export function gateChecks(
  { least = {}, baseline, margin }: Gate,
  runs: readonly MeasuredRun[],
  scorers: readonly string[],
  expected: number,
): readonly GateCheck[] {
  const missing = (scorer: string) =>
    expected - runs.filter(({ values }) => values[scorer] !== undefined).length;
  return [
    ...Object.entries(least).map(([scorer, wanted]) =>
      checked(`${scorer} is at least ${scoreText(wanted)}`, missing(scorer), () => {
        const mean = summaryOf(runs, runs[0]?.variant ?? '', scorer)?.mean ?? 0;
        return { passed: mean >= wanted, why: `the mean is ${scoreText(mean)}` };
      }),
    ),
    ...(baseline ? scorers : []).map((scorer) =>
      checked(`${scorer} is not worse than the baseline`, missing(scorer), () =>
        againstBaseline(baseline ?? [], runs, scorer, margin, scorers.length),
      ),
    ),
  ];
}

function checked(what: string, missing: number, decide: () => Omit<GateCheck, 'what'>): GateCheck {
  if (missing === 0) return { what, ...decide() };
  const scores = missing === 1 ? '1 score is' : `${missing} scores are`;
  return { what, passed: false, why: `${scores} missing` };
}

function againstBaseline(
  baseline: readonly MeasuredRun[],
  runs: readonly MeasuredRun[],
  scorer: string,
  margin: number | undefined,
  scorers: number,
): Omit<GateCheck, 'what'> {
  const evidence = comparedWith(baseline, runs, scorer, levelFor(scorers));
  const why = evidenceText(evidence, 'score');
  if (evidence.pairs === 0)
    return { passed: false, why: 'the baseline has no score of these cases' };
  if (margin !== undefined)
    return {
      passed: evidence.mean >= -margin - 1e-9,
      why: `the mean differs by ${scoreText(evidence.mean, true)}, and may be lower by ${scoreText(margin)}`,
    };
  const verdict = verdictOf(evidence);
  // A gate that can never fail would be a false promise.
  return { passed: verdict === 'open' || verdict === 'higher', why };
}
