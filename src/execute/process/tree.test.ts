import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NO_TRACES, type ProcessEntry } from './process-entry.ts';
import { isSame, type PidAndStart, relatedProcesses } from './tree.ts';

const SELF = 50;
const ROOT = { pid: 100, started: 't100' };

/** Rows of `pid parent group session`; `*` marks a process as ours. */
function table(...rows: readonly string[]): ProcessEntry[] {
  return rows.map((row) => {
    const [pid = 0, parent = 0, group = 0, session = 0] = row.split(/[ *]+/).map(Number);
    const traces = row.endsWith('*') ? { ...NO_TRACES, tokens: ['ours'] } : NO_TRACES;
    return { pid, parent, group, session, started: `t${pid}`, suspended: false, traces };
  });
}

/** Matches the root and all marked processes. */
const from = (root: PidAndStart) => (entry: ProcessEntry) =>
  isSame(root, entry) || entry.traces.tokens.length > 0;

test.each([
  [
    'the root and its descendants',
    ['100 50 100 100', '101 100 100 100', '102 101 100 100'],
    [100, 101, 102],
  ],
  [
    'children in other groups',
    ['100 50 100 100', '101 100 101 100', '102 101 102 102'],
    [100, 101, 102],
  ],
  ['an orphan in the group of a member', ['100 50 100 100', '110 1 100 100'], [100, 110]],
  ['an orphan in another group of the session', ['100 50 100 100', '110 1 110 100'], [100, 110]],
  [
    'a marked orphan and its related processes',
    ['120 1 120 120*', '121 120 120 120', '122 1 122 120'],
    [120, 121, 122],
  ],
  ['no other process', ['60 50 50 50', '70 1 70 70', '100 50 100 100'], [100]],
  ['no process in the group of a root that has ended', ['110 1 100 100'], []],
  [
    'neither pid 1 nor this process, even if they are marked',
    ['1 0 1 1*', '50 1 50 50*', '51 50 50 50'],
    [],
  ],
  [
    'no ancestor of this process',
    ['40 1 40 40*', '41 40 41 40*', '50 41 50 50', '42 40 42 40*'],
    [42],
  ],
  [
    'no process through the group of this process',
    ['50 1 50 50', '51 50 50 50*', '52 50 50 50'],
    [51],
  ],
])('finds %s', (_, rows, expected) => {
  expect(relatedProcesses(table(...rows), from(ROOT), SELF).map(({ pid }) => pid)).toEqual(
    expected,
  );
});

test('a process that reuses the pid of the root is not related, nor are its descendants', () => {
  const reused = table('100 1 100 100', '101 100 100 100');
  expect(relatedProcesses(reused, from({ pid: 100, started: 'earlier' }), SELF)).toEqual([]);
});

test('finds every descendant of the root, whatever the order of the table', () => {
  const parents = fc.array(fc.nat(), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(parents, fc.infiniteStream(fc.nat()), (choices, order) => {
      const rows = choices.map((choice, index) => {
        const pid = 101 + index;
        return `${pid} ${100 + (choice % (index + 1))} ${pid} ${pid}`;
      });
      const shuffled = table('100 50 100 100', '70 1 70 70', ...rows)
        .map((entry) => ({ entry, key: order.next().value }))
        .sort((a, b) => a.key - b.key)
        .map(({ entry }) => entry);
      expect(relatedProcesses(shuffled, from(ROOT), SELF)).toHaveLength(rows.length + 1);
    }),
  );
});
