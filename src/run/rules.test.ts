import { expect, test } from 'vitest';
import { claudeAgent } from '../execute/claude/declaration.ts';
import { tightened } from './rules.ts';

test.each<[string, number, number, string | undefined]>([
  ['the same money', 10, 10, undefined],
  ['less money', 10, 5, 'the budget is $5.00'],
  ['more money', 10, 20, undefined],
  ['a limit of the money', 0, 5, 'the budget is $5.00'],
  ['no limit of the money', 10, 0, undefined],
])('%s', (_, before, after, why) => {
  const was = { choices: {}, budgetUsd: before };
  expect(tightened(was, { choices: {}, budgetUsd: after }, claudeAgent)).toBe(why);
});

test('what is chosen for the agent is for its executor to compare', () => {
  const was = { choices: { permissionMode: 'acceptEdits' }, budgetUsd: 0 };
  const now = { choices: { permissionMode: 'plan' }, budgetUsd: 0 };
  expect(tightened(was, now, claudeAgent)).toBe('the permission mode is plan');
  expect(tightened(was, now, { ...claudeAgent, tightened: () => undefined })).toBeUndefined();
});
