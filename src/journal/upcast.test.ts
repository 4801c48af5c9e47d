import { expect, test } from 'vitest';
import { upcast } from './upcast.ts';

const moved = { type: 'agent-moved', at: 1, agent: 'main', state: 'A.md' };
const OTHERS = { budgetUsd: 5, wait: true };
const CHOSEN = {
  model: 'opus',
  effort: 'low',
  permissionMode: 'plan',
  skipPermissions: false,
  allowedTools: ['Read'],
  agentSettings: '{}',
};

test.each<[string, object, object]>([
  ['a move without choices', moved, moved],
  [
    'a move of a function',
    { ...moved, model: 'haiku', effort: 'low' },
    { ...moved, choices: { model: 'haiku', effort: 'low' } },
  ],
  [
    'the settings of a resume',
    { type: 'run-resumed', settings: { ...OTHERS, ...CHOSEN } },
    { type: 'run-resumed', settings: { ...OTHERS, agent: CHOSEN } },
  ],
  [
    'settings that are none',
    { type: 'run-resumed', settings: 3 },
    { type: 'run-resumed', settings: 3 },
  ],
])('version 1: %s', (_, old, now) => {
  expect(upcast(old, 1)).toEqual(now);
});
