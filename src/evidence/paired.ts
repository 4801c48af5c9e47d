/**
 * What paired differences show: how large the difference is, and whether it can be chance.
 *
 * If a variant changes nothing, each difference is as likely to be positive as negative. So all subsets of the
 * differences are compared. The mean of a random subset is above the true difference as often as below it,
 * whatever the distribution (Hartigan's typical values). No normal distribution is assumed. Up to
 * `MOST_EXACT` pairs, all subsets count. For more pairs, a fixed sequence of random ones does, so that
 * equal differences always give the same answer.
 */

export interface PairedEvidence {
  readonly pairs: number;
  /** The mean difference; 0 without pairs. */
  readonly mean: number;
  /**
   * The range that covers the true difference with the wanted confidence. Undefined if there are too few pairs
   * for any difference, however large, to show.
   */
  readonly range: { readonly low: number; readonly high: number } | undefined;
  /** How often chance alone gives a difference that is at least as large; 1 without pairs. */
  readonly chance: number;
  /** The fewest pairs with which a difference can show. */
  readonly needed: number;
}

/** What a range says. `open`: a difference of 0 cannot be excluded. */
export type Verdict = 'higher' | 'lower' | 'open' | 'too-few';

/** `level` is the accepted chance of an error, such as 0.05. */
export function pairedEvidence(differences: readonly number[], level: number): PairedEvidence {
  const pairs = differences.length;
  const needed = Math.max(1, Math.ceil(Math.log2(2 / level) - ROUNDING));
  if (pairs === 0) return { pairs, mean: 0, range: undefined, chance: 1, needed };
  const means = subsetMeans(differences).sort();
  const count = means.length;
  // Rounding must not turn no difference into one.
  const largest = differences.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
  const nothing = largest * pairs * ROUNDING;
  let below = 0;
  let above = 0;
  for (const mean of means) {
    if (mean <= nothing) below += 1;
    if (mean >= -nothing) above += 1;
  }
  // Between two neighbours of the sorted means, the true difference is with a chance of 1 / (count + 1).
  const skipped = Math.floor((level / 2) * (count + 1) + ROUNDING);
  const sum = differences.reduce((all, one) => all + one, 0);
  return {
    pairs,
    mean: Math.abs(sum) <= nothing ? 0 : sum / pairs,
    range:
      pairs < needed
        ? undefined
        : {
            low: rounded(means[skipped - 1] ?? 0, nothing),
            high: rounded(means[count - skipped] ?? 0, nothing),
          },
    chance: Math.min(1, (2 * (1 + Math.min(below, above))) / (count + 1)),
    needed,
  };
}

export function verdictOf({ range }: Pick<PairedEvidence, 'range'>): Verdict {
  if (!range) return 'too-few';
  if (range.low > 0) return 'higher';
  return range.high < 0 ? 'lower' : 'open';
}

/** A smaller difference than this would not have shown, with pairs that differ as much from each other. */
export function smallestVisible({ range, mean }: PairedEvidence): number | undefined {
  return range && Math.max(mean - range.low, range.high - mean);
}

const ROUNDING = 1e-9;
const rounded = (value: number, nothing: number) => (Math.abs(value) <= nothing ? 0 : value);

/** 65,535 subsets. */
export const MOST_EXACT = 16;
const RANDOM_SUBSETS = 19_999;

function subsetMeans(differences: readonly number[]): Float64Array {
  return differences.length <= MOST_EXACT ? allMeans(differences) : randomMeans(differences);
}

/** Of every subset that is not empty. */
function allMeans(differences: readonly number[]): Float64Array {
  const subsets = 2 ** differences.length;
  const sums = new Float64Array(subsets);
  const sizes = new Uint8Array(subsets);
  differences.forEach((difference, index) => {
    const half = 2 ** index;
    for (let subset = 0; subset < half; subset++) {
      sums[half + subset] = (sums[subset] ?? 0) + difference;
      sizes[half + subset] = (sizes[subset] ?? 0) + 1;
    }
  });
  const means = sums.subarray(1);
  for (const [index, sum] of means.entries()) means[index] = sum / (sizes[index + 1] ?? 1);
  return means;
}

function randomMeans(differences: readonly number[]): Float64Array {
  const next = sequence();
  const means = new Float64Array(RANDOM_SUBSETS);
  for (let subset = 0; subset < RANDOM_SUBSETS; subset++) {
    let [sum, size] = [0, 0];
    while (size === 0)
      for (const difference of differences)
        if (next() < 0.5) {
          sum += difference;
          size += 1;
        }
    means[subset] = sum / size;
  }
  return means;
}

/** Mulberry32 with a fixed seed: numbers from 0 up to 1, always the same ones. */
function sequence(): () => number {
  let state = 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
