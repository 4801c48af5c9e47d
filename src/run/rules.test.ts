import { expect, test } from 'vitest';
import { claudeAgent } from '../execute/claude/declaration.ts';
import { tightened } from './rules.ts';

test.each<[string, number, number, string | undefined]>([
  ['the same budget', 10, 10, undefined],
  ['a smaller budget', 10, 5, 'the budget is $5.00'],
  ['a larger budget', 10, 20, undefined],
  ['a budget instead of none', 0, 5, 'the budget is $5.00'],
  ['no budget any longer', 10, 0, undefined],
])('%s', (_, before, after, why) => {
  const was = { choices: {}, granted: [], budgetUsd: before };
  expect(tightened(was, { choices: {}, granted: [], budgetUsd: after }, claudeAgent)).toBe(why);
});

test('the executor of the agent compares the choices for it', () => {
  const was = { choices: { permissionMode: 'acceptEdits' }, granted: [], budgetUsd: 0 };
  const now = { choices: { permissionMode: 'plan' }, granted: [], budgetUsd: 0 };
  expect(tightened(was, now, claudeAgent)).toBe('the permission mode is plan');
  expect(tightened(was, now, { ...claudeAgent, tightened: () => undefined })).toBeUndefined();
});

test('a rule that people no longer allow ends the step', () => {
  const was = { choices: {}, granted: ['Bash'], budgetUsd: 0 };
  expect(tightened(was, was, claudeAgent)).toBeUndefined();
  expect(tightened({ ...was, granted: [] }, was, claudeAgent)).toBeUndefined();
  expect(tightened(was, { ...was, granted: [] }, claudeAgent)).toBe(
    'what was allowed for the run is no longer allowed',
  );
});
