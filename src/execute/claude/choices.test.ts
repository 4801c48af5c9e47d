import { expect, test } from 'vitest';
import type { Choices } from '../../model/agent.ts';
import { combine, readChoices, tightened } from './choices.ts';

const was: Choices = {
  model: 'sonnet',
  permissionMode: 'acceptEdits',
  skipPermissions: false,
  allowedTools: ['Read'],
  disallowedTools: ['WebFetch'],
};

test.each<[string, Choices, Choices, RegExp | undefined]>([
  ['nothing has changed', {}, {}, undefined],
  ['a stricter mode', {}, { permissionMode: 'plan' }, /mode is plan/],
  ['a looser mode', { permissionMode: 'plan' }, { permissionMode: 'acceptEdits' }, undefined],
  ['a mode that may allow anything', { permissionMode: 'auto' }, {}, /mode is acceptEdits/],
  ['permissions that were skipped', { skipPermissions: true }, {}, /not skipped/],
  ['permissions that are skipped now', {}, { skipPermissions: true }, undefined],
  ['a tool that was allowed', {}, { allowedTools: [] }, /fewer tools/],
  ['a tool that is allowed now', {}, { allowedTools: ['Read', 'Bash'] }, undefined],
  ['a tool that is forbidden now', {}, { disallowedTools: ['WebFetch', 'Bash'] }, /fewer tools/],
  ['a tool that was forbidden', {}, { disallowedTools: [] }, undefined],
  ['other options of the agent', {}, { agentArgs: ['--no-chrome'] }, /other options/],
  ['another model', {}, { model: 'haiku' }, /model is haiku/],
])('%s', (_, before, after, why) => {
  const said = tightened({ ...was, ...before }, { ...was, ...after });
  if (why === undefined) expect(said).toBeUndefined();
  else expect(said).toMatch(why);
});

test('no model any more is no reason to stop', () => {
  const { model: _, ...now } = was;
  expect(tightened(was, now)).toBeUndefined();
});

test('the nearest word counts for the model, and lists of tools are added up', () => {
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

test.each<[string, Choices]>([
  ['a tool that is an option', { allowedTools: ['--dangerously-skip-permissions'] }],
  ['a model that is a list', { model: ['opus'] }],
  ['permissions in words', { skipPermissions: 'yes' }],
])('%s was never chosen with Raymond', (_, choices) => {
  expect(() => readChoices(choices)).toThrow('cannot be what was chosen');
});
