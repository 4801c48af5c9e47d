import { expect, test } from 'vitest';
import { claudeAgent } from '../execute/claude/declaration.ts';
import { type Rules, tightened } from './rules.ts';

const rules = (turn: Partial<Rules['turn']>, rights?: Rules['rights']): Rules => ({
  ...(rights && { rights }),
  turn: { choices: {}, granted: [], budgetUsd: 0, ...turn },
});

test.each<[string, number, number, string | undefined]>([
  ['the same budget', 10, 10, undefined],
  ['a smaller budget', 10, 5, 'the budget is $5.00'],
  ['a larger budget', 10, 20, undefined],
  ['a budget instead of none', 0, 5, 'the budget is $5.00'],
  ['no budget any longer', 10, 0, undefined],
])('%s', (_, before, after, why) => {
  const [was, now] = [rules({ budgetUsd: before }), rules({ budgetUsd: after })];
  expect(tightened(was, now, claudeAgent)).toBe(why);
});

test('the executor of the agent compares the choices for it', () => {
  const was = rules({ choices: { permissionMode: 'acceptEdits' } });
  const now = rules({ choices: { permissionMode: 'plan' } });
  expect(tightened(was, now, claudeAgent)).toBe('the permission mode is plan');
  expect(tightened(was, now, { ...claudeAgent, tightened: () => undefined })).toBeUndefined();
});

test('a rule that people no longer allow ends the step', () => {
  const was = rules({ granted: ['Bash'] });
  expect(tightened(was, was, claudeAgent)).toBeUndefined();
  expect(tightened(rules({}), was, claudeAgent)).toBeUndefined();
  expect(tightened(was, rules({}), claudeAgent)).toBe(
    'what was allowed for the run is no longer allowed',
  );
});

test.each<[string, Rules, Rules, string | undefined]>([
  ['of a prompt', rules({}), rules({}, rightsTo('src')), 'its rights are narrower'],
  ['of a script', {}, { rights: rightsTo('src') }, 'its rights are narrower'],
  ['that stay', { rights: rightsTo('src') }, { rights: rightsTo('src') }, undefined],
  ['that are lifted', { rights: rightsTo('src') }, {}, undefined],
])('rights %s', (_, was, now, why) => {
  expect(tightened(was, now, undefined)).toBe(why);
});

function rightsTo(path: string) {
  return { write: [[path]], hide: [], network: [] };
}
