import type { Line, Result, Series } from './result.ts';

/** Compares a line with its target and with the last result. */
export interface Judgement {
  readonly figure: number;
  readonly reached: 'aim' | 'target' | 'missed';
  /** The same figure in the last result, and whether the new one is clearly worse. */
  readonly before?: number;
  readonly regressed: boolean;
}

/** Rounds of one machine differ by some percent even when the least of them counts. */
export const TOLERANCE = 0.15;

export function judge(line: Line, last: Result | undefined): Judgement | undefined {
  const figure = figureOf(line);
  if (figure === undefined) return undefined;
  const older = last?.lines.find(({ name }) => name === line.name);
  const before = older?.limits === line.limits ? figureOf(older) : undefined;
  return {
    figure,
    reached: reached(line, figure),
    ...(before !== undefined && { before }),
    regressed: before !== undefined && figure > before * (1 + TOLERANCE),
  };
}

/** The figure that has to reach the target. */
export function figureOf({ outcome, limits }: Line): number | undefined {
  if (outcome.kind !== 'measured') return undefined;
  return figure(outcome.ours, outcome.floor, limits);
}

export function figure(ours: Series, floor: Series, limits: Line['limits']): number {
  return limits === 'value' ? ours.least : ours.least / floor.least;
}

/** Figures are comparable only on the same kind of machine. */
export function lastOfSameMachine(
  { machine }: Pick<Result, 'machine'>,
  results: readonly Result[],
): Result | undefined {
  return results.find(
    ({ machine: other }) =>
      other.cpu === machine.cpu &&
      other.cores === machine.cores &&
      other.memoryGb === machine.memoryGb,
  );
}

function reached({ target, aim }: Line, figure: number): Judgement['reached'] {
  if (aim !== undefined && figure <= aim) return 'aim';
  return figure <= target ? 'target' : 'missed';
}
