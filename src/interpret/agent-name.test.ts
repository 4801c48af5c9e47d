import { expect, test } from 'vitest';
import { PersistentMap } from '../model/persistent-map.ts';
import type { Run } from '../model/run.ts';
import { stateNameSchema } from '../model/state-name.ts';
import { childNames } from './agent-name.ts';
import { newRun } from './new-run.ts';

const ended = {
  at: 0,
  parent: 'main',
  workflow: '/flow',
  state: stateNameSchema.parse('W.md'),
  variables: {},
  end: { kind: 'ended', result: '' } as const,
  steps: 1,
  costUsd: 0,
  isPriced: false,
  worktree: undefined,
};
const withEnded = (...ids: string[]): Run => ({
  ...newRun,
  endedAgents: PersistentMap.from(ids.map((id) => [id, ended])),
});
const ids = (run: Run, parent: string, ...targets: string[]) =>
  childNames(run, parent, targets).map(({ id }) => id);

test.each([
  ['WORKER.md', 'main_worker1'],
  ['WORKER', 'main_worker1'],
  ['ANALYZE.sh', 'main_analyz1'],
  ['1_START.md', 'main_1_star1'],
  ['Go', 'main_go1'],
  ['ÄPFEL-UND-X', 'main_äpfel-1'],
  ['🦊 fox', 'main_fox1'],
  ['...', 'main_agent1'],
  ['flows/Sub', 'main_sub1'],
  ['flows/sub/', 'main_sub1'],
  ['flows/sub.zip/ENTRY.md', 'main_entry1'],
])('a fork to %s is %s', (target, id) => expect(ids(newRun, 'main', target)).toEqual([id]));

test('each parent has one counter for all targets', () => {
  expect(ids(newRun, 'main', 'WORKER', 'ANALYZE', 'WORKER')).toEqual([
    'main_worker1',
    'main_analyz2',
    'main_worker3',
  ]);
  expect(ids(newRun, 'main_worker1', 'ANALYZE')).toEqual(['main_worker1_analyz1']);
});

test('the counter never decreases, even when its children have ended', () => {
  const run = { ...newRun, forkCounters: PersistentMap.from([['main', 7]]) };
  expect(childNames(run, 'main', ['W'])).toEqual([{ id: 'main_w8', counter: 8 }]);
});

test.each([
  ['by an agent that has ended', withEnded('main_w1', 'main_w2'), 'main_w3'],
  ['by a name that is spelled the same', withEnded('main_w1'), 'main_w2'],
])('a name that is in use %s advances the counter', (_, run, id) => {
  expect(ids(run, 'main', 'W')).toEqual([id]);
});

test('two forks of one move never get the same name', () => {
  // main_a1 + 1 and main_a + 11 give the same name.
  const run = { ...newRun, forkCounters: PersistentMap.from([['main', 9]]) };
  expect(ids(run, 'main', 'A1', 'A')).toEqual(['main_a110', 'main_a11']);
  expect(
    ids(
      { ...run, forkCounters: PersistentMap.from([['main', 0]]) },
      'main',
      'A1',
      ...Array(10).fill('A'),
    ),
  ).toEqual(['main_a11', ...[2, 3, 4, 5, 6, 7, 8, 9, 10, 12].map((n) => `main_a${n}`)]);
});

test('a path of nothing but slashes is shortened in linear time', () => {
  expect(ids(newRun, 'main', `${'/'.repeat(1_000_000)}flow${'\\'.repeat(1_000_000)}`)).toEqual([
    'main_flow1',
  ]);
  expect(ids(newRun, 'main', '/'.repeat(1_000_000))).toEqual(['main_agent1']);
});
