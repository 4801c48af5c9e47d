import { expect, test } from 'vitest';
import { comparedWith, levelFor, type MeasuredRun, summaryOf } from './compare.ts';
import { evidenceText, scoreText, valueText } from './evidence-text.ts';
import { gateChecks } from './gate.ts';
import { pairedEvidence } from './paired.ts';
import { compareResult, readScore } from './read-score.ts';

test.each([
  ['0.8', 0.8, ''],
  [' 7', 7, ''],
  ['-3.5e2', -350, ''],
  ['.5: too short', 0.5, 'too short'],
  ['PASS', 1, ''],
  ['fail, no test was added\nsee a.ts', 0, 'no test was added\nsee a.ts'],
  ['Yes', 1, ''],
  ['maybe', undefined, ''],
  ['', undefined, ''],
  ['1e999', undefined, ''],
  ['0x10', undefined, ''],
  ['constructor', undefined, ''],
  ['8/10', undefined, ''],
])('%j is the score %d', (text, score, note) => {
  expect(readScore(text)).toEqual(score === undefined ? { ok: false } : { ok: true, score, note });
});

test.each([
  ['equals', ' yes\n', 'yes', 1],
  ['equals', 'yes, it is', 'yes', 0],
  ['contains', 'yes, it is', 'yes', 1],
  ['contains', 'no', 'yes', 0],
] as const)('%s: %j against %j is %d', (how, result, expected, score) => {
  expect(compareResult(how, result, expected).score).toBe(score);
});

const run = (variant: string, name: string, number: number, values: MeasuredRun['values']) => ({
  ...{ variant, case: name, number, values },
});

test('a pair has the same case and the same repetition, and both have the measure', () => {
  const before = [run('', 'a', 1, { s: 0 }), run('', 'a', 2, { s: 0.5 }), run('', 'b', 1, {})];
  const after = [
    ...[run('v', 'a', 1, { s: 1 }), run('v', 'a', 3, { s: 9 })],
    ...[run('v', 'b', 1, { s: 9 }), run('v', 'a', 2, { s: 1 })],
  ];
  expect(comparedWith(before, after, 's', 0.05)).toMatchObject({ pairs: 2, mean: 0.75 });
});

test('the summary of a variant is about its own runs', () => {
  const runs = [1, 2, 3, 4].map((value) => run('v', 'a', value, { s: value }));
  expect(summaryOf([...runs, run('', 'a', 1, { s: 99 })], 'v', 's')).toEqual({
    ...{ runs: 4, mean: 2.5, low: 1.75, median: 2.5, high: 3.25 },
  });
  expect(summaryOf(runs, 'w', 's')).toBeUndefined();
});

test.each([
  [
    [1, 1, 1, 1, 1],
    'not shown: 5 pairs can show no difference, however large. At least 6 are needed',
  ],
  [[1, 1, 1, 1, 1, 1], 'better by 1 (+1 to +1)'],
  [[-1, -1, -1, -1, -1, -2], 'worse by 1.17 (-2 to -1)'],
  [[0, 0, 0, 0, 0, 0], 'equal in all 6 pairs'],
  [
    [1, -1, 1, -1, 1, 1],
    'not shown: +0.333 (-1 to +1). 6 pairs like these cannot show a difference smaller than 1.33',
  ],
  [[], 'no pairs'],
])('%j: %s', (differences, text) => {
  expect(evidenceText(pairedEvidence(differences, 0.05), 'score')).toBe(text);
});

test('less cost and less time are told as such', () => {
  const evidence = pairedEvidence([-0.5, -0.5, -0.5, -0.5, -0.5, -0.5], 0.05);
  expect(evidenceText(evidence, 'cost')).toBe('cheaper by $0.5000 (-$0.5000 to -$0.5000)');
  expect(evidenceText(evidence, 'time')).toMatch(/^faster by 0\.0 s/);
  expect([scoreText(2 / 3), scoreText(12), valueText(-1500, 'time')]).toEqual([
    '0.667',
    '12',
    '-1.5 s',
  ]);
});

test('several comparisons share the accepted chance of an error', () => {
  expect(levelFor(1)).toBe(0.05);
  expect(pairedEvidence([1, 1, 1, 1, 1, 1], levelFor(2))).toMatchObject({
    needed: 7,
    range: undefined,
  });
});

const scored = (...scores: readonly (number | undefined)[]) =>
  scores.map((score, index) => run('', 'a', index + 1, score === undefined ? {} : { s: score }));

test.each([
  { gate: { least: { s: 0.5 } }, now: scored(1, 0), passed: true },
  { gate: { least: { s: 0.6 } }, now: scored(1, 0), passed: false, why: 'the mean is 0.5' },
  {
    gate: { least: { s: 0 } },
    now: scored(1, undefined),
    passed: false,
    why: '1 score is missing',
  },
  { gate: { baseline: scored(1, 1), margin: 0.5 }, now: scored(1, 0), passed: true },
  { gate: { baseline: scored(1, 1), margin: 0.4 }, now: scored(1, 0), passed: false },
  // Without a margin, too few pairs decide nothing, and a gate that cannot fail does not pass.
  { gate: { baseline: scored(1, 1) }, now: scored(1, 1), passed: false, why: 'not shown: 2 pairs' },
  { gate: { baseline: scored(1, 1, 1, 1, 1, 1) }, now: scored(1, 1, 1, 1, 1, 0), passed: true },
  {
    gate: { baseline: scored(1, 1, 1, 1, 1, 1) },
    now: scored(0, 0, 0, 0, 0, 0),
    passed: false,
    why: 'worse by 1',
  },
  { gate: { baseline: [] }, now: scored(1), passed: false, why: 'the baseline has no score' },
])('a gate: $gate, $passed', ({ gate, now, passed, why = '' }) => {
  const [check] = gateChecks(gate, now, ['s'], now.length);
  expect(check).toMatchObject({ passed });
  expect(check?.why).toContain(why);
});
