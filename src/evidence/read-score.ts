/** Reads what a scorer says. */

export type ReadScore =
  | { readonly ok: true; readonly score: number; readonly note: string }
  | { readonly ok: false };

/** The first word is a number or a verdict. The rest is a reason for people. */
export function readScore(result: string): ReadScore {
  const [, word = '', rest = ''] = /^\s*([^\s:,;]+)[:,;]?\s*([\s\S]*)$/.exec(result) ?? [];
  const score = VERDICTS.get(word.toLowerCase()) ?? numberIn(word);
  return score === undefined ? { ok: false } : { ok: true, score, note: rest.trimEnd() };
}

const VERDICTS: ReadonlyMap<string, number> = new Map([
  ...['pass', 'passed', 'yes', 'true'].map((word) => [word, 1] as const),
  ...['fail', 'failed', 'no', 'false'].map((word) => [word, 0] as const),
]);

function numberIn(word: string): number | undefined {
  if (!/^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d{1,3})?$/i.test(word)) return undefined;
  const value = Number(word);
  return Number.isFinite(value) ? value : undefined;
}

/** The built-in comparison of a result with what was expected. */
export function compareResult(
  how: 'equals' | 'contains',
  result: string,
  expected: string,
): { readonly score: number; readonly note: string } {
  const [found, wanted] = [result.trim(), expected.trim()];
  const isGood = how === 'equals' ? found === wanted : found.includes(wanted);
  return { score: isGood ? 1 : 0, note: '' };
}
