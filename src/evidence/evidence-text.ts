/** Says in words what paired differences show, and what they do not show. */
import { unreachable } from '../model/unreachable.ts';
import { type PairedEvidence, smallestVisible, verdictOf } from './paired.ts';

/** How a difference is written, and what a larger value means. */
export type MeasureKind = 'score' | 'cost' | 'time';

export function evidenceText(evidence: PairedEvidence, kind: MeasureKind): string {
  const { mean, range, pairs, needed } = evidence;
  if (pairs === 0) return 'no pairs';
  const verdict = verdictOf(evidence);
  const [more, less] = WORDS[kind];
  const between = range
    ? ` (${valueText(range.low, kind, true)} to ${valueText(range.high, kind, true)})`
    : '';
  switch (verdict) {
    case 'higher':
    case 'lower': {
      const word = verdict === 'higher' ? more : less;
      return `${word} by ${valueText(Math.abs(mean), kind)}${between}`;
    }
    case 'too-few':
      return `not shown: ${pairsText(pairs)} can show no difference, however large. At least ${needed} are needed`;
    case 'open': {
      if (range?.low === 0 && range.high === 0) return `equal in all ${pairsText(pairs)}`;
      const visible = valueText(smallestVisible(evidence) ?? 0, kind);
      return `not shown: ${valueText(mean, kind, true)}${between}. ${pairsText(pairs)} like these cannot show a difference smaller than ${visible}`;
    }
    default:
      return unreachable(verdict);
  }
}

const WORDS: Readonly<Record<MeasureKind, readonly [more: string, less: string]>> = {
  score: ['better', 'worse'],
  cost: ['dearer', 'cheaper'],
  time: ['slower', 'faster'],
};

const pairsText = (pairs: number) => (pairs === 1 ? '1 pair' : `${pairs} pairs`);

export function valueText(value: number, kind: MeasureKind, isSigned = false): string {
  if (kind === 'score') return scoreText(value, isSigned);
  const size = Math.abs(value);
  const digits = size !== 0 && size < 1 ? 4 : 2;
  const text = kind === 'cost' ? size.toFixed(digits) : (size / 1000).toFixed(1);
  // What rounds to nothing has no sign.
  const sign = Number(text) === 0 ? '' : value < 0 ? '-' : isSigned ? '+' : '';
  return kind === 'cost' ? `${sign}$${text}` : `${sign}${text} s`;
}

/** With three digits, and no more than it has: `0.5`, `0.667`, `12`. */
export function scoreText(value: number, isSigned = false): string {
  const text = String(Number(value.toPrecision(3)));
  return isSigned && value > 0 ? `+${text}` : text;
}
