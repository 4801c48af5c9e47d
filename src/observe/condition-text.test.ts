import { expect, test } from 'vitest';
import { conditionOf, isResumable, type StoredFacts } from '../model/condition.ts';
import type { RunOutcome } from '../model/event.ts';
import { emptyTally, type Tally } from '../model/tally.ts';
import { conditionText } from './words.ts';

const NOW = new Date(2026, 0, 1, 12).getTime();
const AT_14 = new Date(2026, 0, 1, 14).getTime();

const active = (tally: Partial<Tally>, limits = {}): StoredFacts => ({
  kind: 'stored',
  run: { status: { kind: 'active' }, tally: { ...emptyTally, ...tally }, limits },
  owner: {},
});
const ended = (outcome: RunOutcome): StoredFacts => ({
  kind: 'stored',
  run: { status: { kind: 'ended', outcome }, tally: emptyTally },
  owner: undefined,
});
const stopping = (tally: Partial<Tally>): StoredFacts => {
  const found = active(tally);
  return {
    ...found,
    run: { ...found.run, status: { kind: 'stopping', how: 'drain', why: 'person' } },
  };
};

test.each([
  ['running', 'running', active({ promptsRunning: 1 })],
  ['running', 'running', active({ ready: 1 })],
  ['running', 'running, waiting for an answer', active({ scriptsRunning: 1, asking: 1 })],
  [
    'running',
    'running, waiting for a permission',
    active({ promptsRunning: 2, asksPermission: 1 }),
  ],
  ['waiting', 'waiting for an answer', active({ asking: 1, promptsRunning: 1, asksPermission: 1 })],
  ['waiting', 'waiting for a permission', active({ promptsRunning: 1, asksPermission: 1 })],
  [
    'waiting',
    'waiting for the usage limit of codex until 14:00:00',
    active({ ready: 1 }, { codex: AT_14 }),
  ],
  [
    'waiting',
    'waiting for the usage limit until 14:00:00, waiting for an answer',
    active({ ready: 1, asking: 1 }, { '': AT_14 }),
  ],
  ['waiting', 'waiting for a worker', { ...active({ asking: 1 }), owner: { isAwaited: true } }],
  ['stopping', 'stopping', stopping({ scriptsRunning: 1 })],
  [
    'stopping',
    'stopping, waiting for a permission',
    stopping({ promptsRunning: 1, asksPermission: 1 }),
  ],
  ['crashed', 'crashed', { ...active({ scriptsRunning: 1, asking: 1 }), owner: undefined }],
  ['crashed', 'crashed', { ...stopping({}), owner: undefined }],
  ['waiting', 'waiting', ended('waiting')],
  ['stopped', 'stopped: budget', ended('stopped: budget')],
  ['stopped', 'stopped: iterations', ended('stopped: iterations')],
  ['stopped', 'stopped: shutdown', ended('stopped: shutdown')],
  ['completed', 'completed', ended('completed')],
] as const)('%s: %s', (kind, words, found) => {
  expect(conditionOf(found).kind).toBe(kind);
  expect(conditionText(conditionOf(found), NOW)).toBe(words);
});

test('a run that cannot be read is damaged', () => {
  expect(conditionText(conditionOf({ kind: 'damaged' }), NOW)).toBe('damaged');
});

test.each([
  ['completed', false],
  ['waiting', false],
  ['failed', true],
  ['paused', true],
  ['interrupted', true],
  ['stopped: budget', true],
] as const)('a resume continues a run that is %s: %s', (outcome, expected) => {
  expect(isResumable(conditionOf(ended(outcome)))).toBe(expected);
});
