import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NO_TRACES, nameOf, type PidAndStart, type ProcessEntry } from './process-entry.ts';
import { ProcessTable } from './process-table.ts';

const isSame = (a: PidAndStart, b: PidAndStart) => nameOf(a) === nameOf(b);

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

/** The pids that are related to the root and to all marked processes. */
function related(rows: readonly ProcessEntry[], root: PidAndStart, shared?: number): number[] {
  const read = new ProcessTable(rows, SELF);
  const isOurs = (entry: ProcessEntry) => isSame(root, entry) || entry.traces.tokens.length > 0;
  return read.related(read.entries.filter(isOurs), shared).map(({ pid }) => pid);
}

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
  expect(related(table(...rows), ROOT)).toEqual(expected);
});

test('a process that reuses the pid of the root is not related, nor are its descendants', () => {
  const reused = table('100 1 100 100', '101 100 100 100');
  expect(related(reused, { pid: 100, started: 'earlier' })).toEqual([]);
});

test('a shared session relates no processes, but other sessions and groups do', () => {
  const rows = table(
    '90 1 90 90',
    '100 90 100 90',
    '101 100 101 90',
    '110 90 110 90',
    '120 1 101 90',
  );
  expect(related(rows, ROOT, 90)).toEqual([100, 101, 120]);
});

test('a step is found by its token, its limit and its output', () => {
  const mark = { key: '123456789', number: 7 };
  const token = `${mark.key}.${mark.number}.x`;
  const traces = [
    { ...NO_TRACES, tokens: ['other', token] },
    { ...NO_TRACES, limit: mark },
    { ...NO_TRACES, outputs: ['/out'] },
    { ...NO_TRACES, tokens: ['other'], limit: { ...mark, number: 8 }, outputs: ['/other'] },
  ];
  const rows = table('60 1 60 60', '61 1 61 61', '62 1 62 62', '63 1 63 63');
  const marked = new ProcessTable(
    rows.map((row, index) => ({ ...row, traces: traces[index] ?? NO_TRACES })),
    SELF,
  ).marked(token, ['/out']);
  expect(marked.map(({ pid }) => pid)).toEqual([60, 61, 62]);
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
      expect(related(shuffled, ROOT)).toHaveLength(rows.length + 1);
    }),
  );
});
