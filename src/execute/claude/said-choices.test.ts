import { expect, test } from 'vitest';
import type { Choices } from '../../model/agent.ts';
import { choose, factsOf, oneVoice, withoutHarm } from './said-choices.ts';

const one = (said: Choices) => oneVoice(said, 'The file');

test.each<[Choices, Choices]>([
  [{}, {}],
  [{ skipPermissions: true }, { skipPermissions: true }],
  [{ permissionMode: 'plan' }, { permissionMode: 'plan', skipPermissions: false }],
  [
    { permissionMode: 'bypassPermissions' },
    { permissionMode: 'acceptEdits', skipPermissions: true },
  ],
])('%j means %j', (said, meant) => {
  expect(one(said)).toEqual(meant);
});

test.each<[Choices, string]>([
  [{ permissionMode: 'plan', skipPermissions: true }, 'to skip'],
  [{ permissionMode: 'bypassPermissions', skipPermissions: false }, 'not to skip'],
])('%j is refused', (said, says) => {
  expect(() => one(said)).toThrow(`The file asks ${says} permissions, but names the`);
});

const USUAL = { permissionMode: 'acceptEdits', skipPermissions: false };

test.each<[string, Choices, Choices, Choices]>([
  ['nothing', {}, {}, USUAL],
  [
    'a model',
    { model: 'haiku' },
    { model: 'opus', effort: 'low' },
    { ...USUAL, model: 'haiku', effort: 'low' },
  ],
  [
    'tools',
    { allowedTools: ['Read, Bash(a b)'] },
    {},
    { ...USUAL, allowedTools: ['Read', 'Bash(a b)'] },
  ],
  ['no tools any more', { allowedTools: [''] }, { allowedTools: ['Read'] }, USUAL],
  ['no settings any more', { agentSettings: '' }, { agentSettings: '/x' }, USUAL],
  [
    'arguments',
    { agentArgs: '--no-chrome --agent x' },
    {},
    { ...USUAL, agentArgs: ['--no-chrome', '--agent=x'] },
  ],
  ['where the program is', { claudePath: '/x' }, {}, USUAL],
  [
    'over a bypass of an older Raymond',
    {},
    { permissionMode: 'bypassPermissions' },
    { ...USUAL, skipPermissions: true },
  ],
])('a run keeps what is said: %s', (_, said, before, kept) => {
  expect(choose(said, before, '/project')).toEqual(kept);
});

test('words that are no tools are refused', () => {
  expect(() => choose({ allowedTools: ['--x'] }, {}, '/')).toThrow(
    '--allowed-tools contains "--x"',
  );
});

test('of the run of a stranger only what does no harm is kept', () => {
  const theirs = {
    model: 'opus',
    permissionMode: 'auto',
    skipPermissions: true,
    allowedTools: ['Bash'],
    disallowedTools: ['Read'],
    mcpConfig: ['{}'],
  };
  const kept = { model: 'opus', disallowedTools: ['Read'], ...USUAL };
  expect(withoutHarm(theirs)).toEqual(kept);
  expect(withoutHarm({ permissionMode: 'plan' })).toMatchObject({ permissionMode: 'plan' });
  expect(factsOf(theirs)).toEqual({
    permissions: 'SKIPPED',
    'for agents': 'allowedTools, disallowedTools, mcpConfig',
  });
});
