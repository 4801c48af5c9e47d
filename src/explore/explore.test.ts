import { expect, test } from 'vitest';
import { workflowOf } from '../../test/lint/workflow-of.ts';
import { flowFaults } from '../lint/flow-faults.ts';
import type { Workflow } from '../model/workflow.ts';
import { explore } from './explore.ts';

const faultsOf = (workflow: Workflow) => flowFaults(workflow, explore(workflow).walk);

const policy = (...entries: string[]) =>
  `---\nallowed_transitions:\n${entries.map((e) => `  - ${e}\n`).join('')}---\n`;
const goto = (target: string) => `{tag: goto, target: ${target}}`;
const call = (target: string, back: string) => `{tag: call, target: ${target}, return: ${back}}`;
const RESULT = '{tag: result}';

const found = (files: Readonly<Record<string, string>>) =>
  faultsOf(workflowOf(files)).map(({ code, file, line }) => `${code} ${file}:${line}`);

test.each<[string, Record<string, string>, string[]]>([
  [
    'an infinite loop',
    { START: policy(goto('A')), A: policy(goto('B')), B: policy(goto('A')) },
    ['endless-loop A.md:3'],
  ],
  ['a loop with an exit', { START: policy(goto('START'), RESULT) }, []],
  [
    'a loop with a limit',
    { START: policy(goto('START')).replace('---\n', '---\nmax_visits: 3\n') },
    [],
  ],
  [
    'a loop with a limit too high to count',
    { START: policy(goto('START')).replace('---\n', '---\nmax_visits: 300\n') },
    [],
  ],
  [
    'a loop that an evaluator ends',
    {
      START: `${policy(goto('START')).slice(0, -4)}evaluators:\n  - {visits: 9, then: {tag: result, payload: x}}\n---\n`,
    },
    [],
  ],
  [
    'a call that never returns',
    {
      START: policy(call('A', 'B')),
      A: policy(goto('C')),
      C: policy(goto('A')),
      B: policy(RESULT),
    },
    ['unreachable-state B.md:1', 'never-returns START.md:3', 'endless-loop A.md:3'],
  ],
  [
    'only the innermost call that never returns is reported',
    {
      START: policy(call('A', 'B')),
      A: policy(call('C', 'B')),
      C: policy('{tag: reset-workflow, path: ../other}'),
      B: policy(RESULT),
    },
    ['unreachable-state B.md:1', 'never-returns A.md:3'],
  ],
  [
    'a recursion that ends',
    { START: policy(call('START', 'B'), RESULT), B: policy(RESULT) },
    ['result-ends-run START.md:4', 'result-ends-run B.md:3'],
  ],
  [
    'a recursion that never ends',
    { START: policy(call('START', 'START')) },
    ['never-returns START.md:3', 'endless-loop START.md:3'],
  ],
  [
    'a forbidden tag',
    { START: `${policy(goto('A'))}<goto>B</goto>`, A: policy(RESULT), B: policy(RESULT) },
    ['forbidden-tag START.md:5', 'unreachable-state B.md:1'],
  ],
  ['a missing target', { START: policy(goto('NOPE')) }, ['missing-state START.md:3']],
  [
    'a missing return state',
    { START: policy(call('A', 'NOPE')), A: policy(RESULT) },
    ['missing-state START.md:3'],
  ],
  ['a dead end', { START: '---\nmodel: opus\n---\nDo it.' }, ['dead-end START.md:4']],
  [
    'a state that only a judge uses',
    {
      START: `${policy(RESULT).slice(0, -4)}evaluators:\n  - {prompt: J, expect: "YES", then: {tag: goto, target: A}}\n---\n`,
      J: policy(RESULT),
      A: policy(RESULT),
    },
    [],
  ],
  [
    'children and their parent',
    {
      'START.sh': "echo \"<fork item='1'>W</fork><fork item='2'>W</fork><goto>N</goto>\"",
      W: policy(RESULT),
      N: policy(RESULT),
    },
    [],
  ],
  [
    'children that are joined',
    {
      'START.sh': `echo "<fork item='1'>W</fork><join failed_next='F' timeout='1h' timeout_next='T'>N</join>"`,
      W: policy(RESULT),
      N: policy(RESULT),
      F: policy(RESULT),
      T: policy(RESULT),
    },
    [],
  ],
  [
    'a policy of forks and a join',
    {
      START: policy('{tag: fork, target: W}', '{tag: join, target: N}'),
      W: policy(RESULT),
      N: policy(goto('START'), RESULT),
    },
    [],
  ],
  [
    'a loop of joins without an exit',
    {
      START: policy('{tag: join, target: N}'),
      N: policy(goto('START')),
    },
    ['endless-loop START.md:3'],
  ],
  [
    'an answer and its timeout',
    {
      START: policy('{tag: ask, next: A, timeout: 1h, timeout_next: B}'),
      A: policy(RESULT),
      B: policy(RESULT),
    },
    [],
  ],
  [
    'another workflow returns',
    { START: policy('{tag: call-workflow, path: ../other, return: A}'), A: policy(RESULT) },
    [],
  ],
  [
    'targets that a script chooses',
    { 'START.sh': 'echo "<goto>$next</goto>"', A: policy(RESULT) },
    ['perhaps-unreachable A.md:1'],
  ],
  [
    'a call whose return a script chooses',
    { 'START.sh': 'echo "<call return=\'$next\'>A</call>"', A: policy(RESULT), B: policy(RESULT) },
    ['perhaps-unreachable B.md:1'],
  ],
  [
    'a limit that makes a state unreachable',
    {
      START: policy(goto('A')).replace('---\n', '---\nmax_visits: 1\n'),
      A: policy(goto('START'), RESULT),
    },
    [],
  ],
])('%s', (_, files, expected) => {
  expect(found(files)).toEqual(expected);
});

test('thirty states with three nested calls take few configurations', () => {
  // Every state of a level can go to every other, call every state below, or return.
  const levels = ['A', 'B', 'C'].map((level) =>
    Array.from({ length: 10 }, (_, i) => `${level}${i}`),
  );
  const files: Record<string, string> = { START: policy(call('A0', 'START'), RESULT) };
  for (const [index, level] of levels.entries()) {
    for (const state of level) {
      const below = levels[index + 1] ?? [];
      files[state] = policy(...level.map(goto), ...below.map((s) => call(s, state)), RESULT);
    }
  }
  const exploration = explore(workflowOf(files));
  expect(exploration.boundHit).toBe(false);
  expect(exploration.states.missed).toEqual([]);
  expect(exploration.transitions.taken).toBe(exploration.transitions.known);
  // One for each state and callee of its level, not one for each stack.
  expect(exploration.configurations).toBe(1 + 10 + 10 * 10 + 10 * 10);
});

test('a reached bound is reported, and then nothing is called impossible', () => {
  const files = { START: policy(goto('A')), A: policy(goto('B')), B: policy(RESULT) };
  const bounded = explore(workflowOf(files), { maxConfigurations: 2 });
  expect(bounded).toMatchObject({ boundHit: true, configurations: 2 });
  expect(flowFaults(workflowOf(files), bounded.walk)).toEqual([]);
  expect(explore(workflowOf(files), { maxDepth: 1 })).toMatchObject({
    boundHit: true,
    configurations: 1,
  });
});

test('each state has a shortest path to it', () => {
  const files = { START: policy(goto('A'), goto('B')), A: policy(goto('B')), B: policy(RESULT) };
  const { pathTo, states } = explore(workflowOf(files));
  expect(states.reached.map(pathTo)).toEqual([
    ['START.md', 'A.md'],
    ['START.md', 'B.md'],
    ['START.md'],
  ]);
});
