import { expect, test } from 'vitest';
import type { Choices } from '../../model/agent.ts';
import { combine, ignoredChoices, readChoices, tightened } from './choices.ts';

const was: Choices = {
  model: 'sonnet',
  permissionMode: 'acceptEdits',
  skipPermissions: false,
  allowedTools: ['Read'],
  disallowedTools: ['WebFetch'],
};

test.each<[string, Choices, Choices, RegExp | undefined]>([
  ['no change', {}, {}, undefined],
  ['a stricter mode', {}, { permissionMode: 'plan' }, /mode is plan/],
  ['a looser mode', { permissionMode: 'plan' }, { permissionMode: 'acceptEdits' }, undefined],
  ['a mode that may allow anything', { permissionMode: 'auto' }, {}, /mode is acceptEdits/],
  ['permissions that are no longer skipped', { skipPermissions: true }, {}, /no longer skipped/],
  ['permissions that are skipped now', {}, { skipPermissions: true }, undefined],
  ['a tool that is no longer allowed', {}, { allowedTools: [] }, /fewer tools/],
  ['a tool that is allowed now', {}, { allowedTools: ['Read', 'Bash'] }, undefined],
  ['a tool that is forbidden now', {}, { disallowedTools: ['WebFetch', 'Bash'] }, /fewer tools/],
  ['a tool that is no longer forbidden', {}, { disallowedTools: [] }, undefined],
  ['other options of the agent', {}, { agentArgs: ['--no-chrome'] }, /other options/],
  ['another model', {}, { model: 'haiku' }, /model is haiku/],
])('judges %s', (_, before, after, why) => {
  const reason = tightened({ ...was, ...before }, { ...was, ...after });
  if (why === undefined) expect(reason).toBeUndefined();
  else expect(reason).toMatch(why);
});

test('a model that is no longer named is no reason to stop', () => {
  const { model: _, ...now } = was;
  expect(tightened(was, now)).toBeUndefined();
});

test('a tag overrides the model of the state and the run, and lists of tools are merged', () => {
  const run = { model: 'opus', effort: 'low', allowedTools: ['Read'] };
  const state = { model: 'sonnet', allowedTools: ['Read', 'Grep'], disallowedTools: ['Bash'] };
  const turn = readChoices(combine({ run, state, tag: { model: 'haiku' } }));
  expect(turn).toMatchObject({
    model: 'haiku',
    effort: 'low',
    allowedTools: ['Read', 'Grep'],
    disallowedTools: ['Bash'],
    permissionMode: 'acceptEdits',
    skipPermissions: false,
  });
});

test.each<[Choices, Choices, readonly string[], string | undefined]>([
  [{}, { allowedTools: ['Bash'] }, ['Grep', 'Bash'], undefined],
  [{ skipPermissions: true }, { allowedTools: ['Bash'] }, ['Grep', 'Bash'], undefined],
  [{ permissionMode: 'auto' }, { allowedTools: ['Bash'] }, ['Grep', 'Bash'], undefined],
  [{ permissionMode: 'default' }, {}, ['Grep'], undefined],
  ...['plan', 'dontAsk', 'default', 'manual', 'unknown'].map(
    (permissionMode): [Choices, Choices, readonly string[], string] => [
      { permissionMode },
      { allowedTools: ['Bash'] },
      ['Grep'],
      `allowed_tools has no effect: the permission mode of the run is ${permissionMode}`,
    ],
  ),
  [
    { permissionMode: 'plan' },
    { permissionMode: 'default' },
    ['Grep'],
    'permission_mode default has no effect: the permission mode of the run is plan',
  ],
  [{ permissionMode: 'default' }, { permissionMode: 'plan' }, ['Grep'], undefined],
  // The author of the state has chosen both.
  [{}, { permissionMode: 'dontAsk', allowedTools: ['Bash'] }, ['Grep', 'Bash'], undefined],
])('a state cannot allow more than the user of the run: %j %j', (chosen, state, tools, ignored) => {
  const run = { ...chosen, allowedTools: ['Grep'] };
  expect(readChoices(combine({ run, state, tag: {} })).allowedTools).toEqual(tools);
  expect(ignoredChoices(run, state)).toBe(ignored);
});

test.each<[string, Choices]>([
  ['a tool that is an option', { allowedTools: ['--dangerously-skip-permissions'] }],
  ['a model that is an option', { model: '--dangerously-skip-permissions' }],
  ['a model that is a list', { model: ['opus'] }],
  ['permissions that are a word', { skipPermissions: 'yes' }],
])('rejects %s', (_, choices) => {
  expect(() => readChoices(choices)).toThrow('is not a valid choice');
});
