import { expect, test } from 'vitest';
import type { InputRule } from '../model/workflow.ts';
import { defaultBudgetUsd, entryInput } from './workflow-defaults.ts';

test.each<[number | undefined, number]>([
  [undefined, 10],
  [1, 1],
  [10, 10],
  [500, 10],
])('a workflow that asks for %s USD gets %s', (asked, budget) => {
  expect(defaultBudgetUsd(asked === undefined ? {} : { defaultBudgetUsd: asked })).toBe(budget);
});

test.each<[InputRule | undefined, string | undefined, unknown]>([
  [undefined, undefined, { ok: true }],
  [undefined, 'a', { ok: true, input: 'a' }],
  [{ required: false, label: 'x' }, undefined, { ok: true }],
  [{ required: true, default: 'd' }, undefined, { ok: true, input: 'd' }],
  [{ required: true, default: 'd' }, 'a', { ok: true, input: 'a' }],
  [{ required: false, default: 'd' }, '', { ok: true, input: '' }],
  [{ required: true }, '', { ok: true, input: '' }],
  [{ required: true }, undefined, { ok: false, problem: 'the workflow w needs an input' }],
  [
    { required: true, label: 'the issue' },
    undefined,
    { ok: false, problem: 'the workflow w needs an input: the issue' },
  ],
])('%j with the input %j gives %j', (input, given, expected) => {
  expect(entryInput({ name: 'w', about: input ? { input } : {} }, given)).toEqual(expected);
});
