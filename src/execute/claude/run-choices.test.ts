import { expect, test } from 'vitest';
import type { Choices } from '../../model/agent.ts';
import { choose, keepHarmless, normalize, summarize } from './run-choices.ts';

const normalized = (given: Choices) => normalize(given, 'The file');

test.each<[Choices, Choices]>([
  [{}, {}],
  [{ skipPermissions: true }, { skipPermissions: true }],
  [{ permissionMode: 'plan' }, { permissionMode: 'plan', skipPermissions: false }],
  [
    { permissionMode: 'bypassPermissions' },
    { permissionMode: 'acceptEdits', skipPermissions: true },
  ],
])('%j means %j', (given, meant) => {
  expect(normalized(given)).toEqual(meant);
});

test.each<[Choices, string]>([
  [{ permissionMode: 'plan', skipPermissions: true }, 'to skip'],
  [{ permissionMode: 'bypassPermissions', skipPermissions: false }, 'not to skip'],
])('%j is refused', (given, asks) => {
  expect(() => normalized(given)).toThrow(`The file asks ${asks} permissions, but names the`);
});

const DEFAULTS = { permissionMode: 'acceptEdits', skipPermissions: false };

test.each<[string, Choices, Choices, Choices]>([
  ['nothing', {}, {}, DEFAULTS],
  [
    'a model',
    { model: 'haiku' },
    { model: 'opus', effort: 'low' },
    { ...DEFAULTS, model: 'haiku', effort: 'low' },
  ],
  [
    'tools',
    { allowedTools: ['Read, Bash(a b)'] },
    {},
    { ...DEFAULTS, allowedTools: ['Read', 'Bash(a b)'] },
  ],
  ['tools removed', { allowedTools: [''] }, { allowedTools: ['Read'] }, DEFAULTS],
  ['settings removed', { agentSettings: '' }, { agentSettings: '/x' }, DEFAULTS],
  [
    'arguments',
    { agentArgs: '--no-chrome --agent x' },
    {},
    { ...DEFAULTS, agentArgs: ['--no-chrome', '--agent=x'] },
  ],
  [
    'a bypass that an older Raymond kept as a mode',
    {},
    { permissionMode: 'bypassPermissions' },
    { ...DEFAULTS, skipPermissions: true },
  ],
])('the choices of a run: %s', (_, given, before, kept) => {
  expect(choose(given, before, '/project')).toEqual(kept);
});

test('a word that is not a tool is refused', () => {
  expect(() => choose({ allowedTools: ['--x'] }, {}, '/')).toThrow(
    '--allowed-tools contains "--x"',
  );
});

test('a run of another user keeps only harmless choices', () => {
  const theirs = {
    model: 'opus',
    permissionMode: 'auto',
    skipPermissions: true,
    allowedTools: ['Bash'],
    disallowedTools: ['Read'],
    mcpConfig: ['{}'],
  };
  const kept = { model: 'opus', disallowedTools: ['Read'], ...DEFAULTS };
  expect(keepHarmless(theirs)).toEqual(kept);
  expect(keepHarmless({ permissionMode: 'plan' })).toMatchObject({ permissionMode: 'plan' });
  expect(summarize(theirs)).toEqual({
    permissions: 'SKIPPED',
    'for agents': 'allowedTools, disallowedTools, mcpConfig',
  });
});
