import { expect, test } from 'vitest';
import type { RunRow, StoredRow } from '../../src/look/run-shape.ts';
import { hasWords, isKind, type Kind, listedRuns, listingIn, searchOf } from './filter.ts';

const bounded = (text: string) => ({ text, omitted: 0 });

const row = (id: string, more: Partial<StoredRow> = {}): StoredRow => ({
  ...{ id, status: 'completed', condition: 'completed', workflow: '/home/me/flows/triage' },
  ...{ started_at: '2026-11-18T09:00:00.000Z', updated_at: '2026-11-18T09:01:00.000Z' },
  ...{ worked_ms: 1, steps: 1, iterations: 1, cost_usd: 0, budget_usd: 10 },
  ...{ questions: 0, permissions: 0 },
  agents: { running: 0, waiting: 0, failed: 0, ended: 1, failed_joined: 0 },
  ...{ input: null, result: null, failure: null, limited_until: null, limits: [] },
  ...{ origin: null, cell: null, rehearsal: false, own: true, pid: null, position: 1 },
  ...more,
});

const damaged: RunRow = {
  ...{ id: 'bad', status: 'damaged', condition: 'damaged' },
  problem: { code: 'x', message: 'Line 3 is damaged.', remedy: '' },
};

test.each<[string, boolean]>([
  ['login', true],
  ['LOGIN reset', true],
  ['priority', true],
  ['triage', true],
  ['2026-11-18', true],
  ['cost>0.4', true],
  ['cost<$0.4', false],
  ['login cost>1', false],
  ['after:2026-11-01', true],
  ['before:2026-11-01', false],
  ['logout', false],
  ['', true],
])('finds a run by %j: %j', (words, isFound) => {
  const input = bounded('Login fails after a reset');
  const run = row('r', { input, result: bounded('Priority 2'), cost_usd: 0.5 });
  expect(hasWords(run, words)).toBe(isFound);
});

test('finds a run that cannot be read by its problem, but not by its cost', () => {
  expect(hasWords(damaged, 'line damaged')).toBe(true);
  expect(hasWords(damaged, 'cost<5')).toBe(false);
});

test.each<[Kind, Partial<StoredRow>]>([
  ['failed', { agents: { running: 0, waiting: 0, failed: 0, ended: 5, failed_joined: 4 } }],
  ['stopped', { status: 'interrupted' }],
  ['stopped', { status: 'stopped' }],
  ['finished', { status: 'completed' }],
])('%s has a run with %j', (kind, more) => {
  expect(isKind(row('r', more), kind)).toBe(true);
});

test('sorts, with unreadable runs at the end', () => {
  const runs = [
    row('a', { cost_usd: 1, worked_ms: 5 }),
    row('b', { cost_usd: 3, worked_ms: 1, updated_at: '2026-11-18T10:00:00.000Z' }),
    row('c', { cost_usd: 2, worked_ms: 9 }),
    damaged,
  ];
  const order = (sort: 'newest' | 'changed' | 'cost' | 'time') =>
    listedRuns(runs, { kind: 'all', words: '', sort }).map(({ id }) => id);
  expect([order('newest'), order('cost'), order('time'), order('changed')]).toEqual([
    ['a', 'b', 'c', 'bad'],
    ['b', 'c', 'a', 'bad'],
    ['c', 'a', 'b', 'bad'],
    ['b', 'a', 'c', 'bad'],
  ]);
});

test('the address has the listing, and is short when it is as usual', () => {
  const listing = { kind: 'failed', words: 'a&b #c', sort: 'cost' } as const;
  expect(listingIn(searchOf(listing))).toEqual(listing);
  expect(searchOf({ kind: 'all', words: '', sort: 'newest' })).toBe('');
  expect(listingIn('?show=nothing&sort=x')).toEqual({ kind: 'all', words: '', sort: 'newest' });
});
