import { expect, test } from 'vitest';
import type { EvaluatorTest } from '../model/workflow.ts';
import { evaluate } from './evaluate.ts';

const evaluator = (test: EvaluatorTest) => ({
  ...test,
  transition: { name: 'goto', attributes: {}, body: 'X' } as const,
  line: 1,
  column: 1,
});
const step = { output: 'I am Unable to do it', sameEntries: 2, visits: 3, costUsd: 1.5 };
const matches = (pattern: string) => evaluator({ kind: 'matches', pattern });
const visits = (count: number) => evaluator({ kind: 'visits', count });
const unchanged = (count: number) => evaluator({ kind: 'unchanged', count });
const cost = (usd: number) => evaluator({ kind: 'cost', usd });
const judge = evaluator({ kind: 'prompt', state: 'JUDGE', expect: 'YES' });

test.each([
  ['none', [], 'pass', undefined],
  ['a pattern that matches', [matches('Unable to')], 'override', 0],
  ['a pattern in another case', [matches('unable to')], 'pass', undefined],
  ['the same, case ignored', [matches('(?i)unable to')], 'override', 0],
  ['too few visits', [visits(4)], 'pass', undefined],
  ['just enough visits', [visits(3)], 'override', 0],
  ['too few equal entries', [unchanged(3)], 'pass', undefined],
  ['just enough equal entries', [unchanged(2)], 'override', 0],
  ['too little cost', [cost(1.51)], 'pass', undefined],
  ['just enough cost', [cost(1.5)], 'override', 0],
  ['the first that fires', [visits(9), cost(1), visits(1)], 'override', 1],
  ['a judge before one that would fire', [visits(9), judge, visits(1)], 'ask-judge', 1],
  ['one that fires before a judge', [visits(1), judge], 'override', 0],
])('%s', (_, evaluators, kind, index) => {
  expect(evaluate(evaluators, 0, step)).toMatchObject(
    index === undefined ? { kind } : { kind, index },
  );
});

test('evaluators before the index are not asked', () => {
  expect(evaluate([visits(1), judge, cost(1)], 2, step)).toMatchObject({
    kind: 'override',
    index: 2,
  });
  expect(evaluate([visits(1), judge], 2, step)).toEqual({ kind: 'pass' });
});
