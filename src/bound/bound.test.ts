import { expect, test } from 'vitest';
import { workflowOf } from '../../test/lint/workflow-of.ts';
import { type BoundOptions, boundOf, loopsOf } from './bound.ts';

type Files = Readonly<Record<string, string>>;

/** A prompt that may take these transitions. */
const may = (entries: string, more = '') =>
  `---\nallowed_transitions:\n${entries
    .split('; ')
    .map((entry) => `  - {${entry}}`)
    .join('\n')}\n${more}---\nGo on.`;

const TO = (target: string) => `tag: goto, target: ${target}`;
const RESULT = 'tag: result';
const LOOP = { 'START.md': may(TO('A')), 'A.md': may(`${TO('START')}; ${RESULT}`) };

/** A prompt with a policy counts four: it may be reminded three times. */
test.each<[string, Files, number | null, BoundOptions?]>([
  ['a prompt without a policy', { 'START.md': '<result>x</result>' }, 1],
  ['a prompt with a policy', { 'START.md': may(RESULT) }, 4],
  [
    'a forced transition needs no reminder',
    { 'START.md': may(TO('A'), 'force_implicit: true\n'), 'A.md': may(RESULT) },
    5,
  ],
  ['a script', { 'START.sh': `echo '<goto>A</goto>'`, 'A.md': may(RESULT) }, 4],
  ['the worse of two ways', { 'START.md': may(`${TO('A')}; ${RESULT}`), 'A.md': may(RESULT) }, 8],
  ['a loop', LOOP, null],
  ['a loop of a script costs nothing', { 'START.sh': `echo '<reset>START</reset>'` }, 0],
  // START, A, START, A, START, A, and START again, which cannot enter A any more.
  ['max_visits', { ...LOOP, 'A.md': may(`${TO('START')}; ${RESULT}`, 'max_visits: 3\n') }, 28],
  [
    'an evaluator of visits',
    {
      'START.md': may(
        TO('START'),
        'evaluators:\n  - {visits: 3, then: {tag: result, payload: x}}\n',
      ),
    },
    12,
  ],
  [
    'of two limits of one loop, the lower one counts',
    {
      'START.md': may(TO('A'), 'max_visits: 2\n'),
      'A.md': may(`${TO('START')}; ${RESULT}`, 'max_visits: 50\n'),
    },
    16,
  ],
  [
    'a callee that is limited limits its callers',
    {
      'START.md': may('tag: call, target: A, return: START'),
      'A.md': may(RESULT, 'max_visits: 2\n'),
    },
    // START, A, START, A, and START again.
    20,
  ],
  [
    'a callee counts for each call',
    {
      'START.md': may('tag: function, target: A, return: B'),
      'B.md': may('tag: function, target: A, return: C'),
      'C.md': may(RESULT),
      'A.md': may(RESULT),
    },
    20,
  ],
  [
    'the result of one call does not return to another caller',
    {
      'START.md': may('tag: call, target: A, return: B'),
      'B.md': may(`tag: call, target: A, return: C; ${RESULT}`),
      'C.md': may(RESULT),
      'A.md': may(RESULT),
    },
    20,
  ],
  [
    'a recursion',
    { 'START.md': may(`tag: call, target: START, return: A`), 'A.md': may(RESULT) },
    null,
  ],
  [
    'a recursion with a limit',
    {
      'START.md': may(`tag: call, target: START, return: A; ${TO('A')}`, 'max_visits: 3\n'),
      'A.md': may(RESULT),
    },
    // Three times START, and A for each of them.
    24,
  ],
  [
    'checks, and judges of each answer',
    {
      'START.md': may(
        RESULT,
        'ensures: [{run: x, tries: 2}]\nevaluators:\n  - {prompt: J, expect: "Y", then: {tag: result, payload: x}}\n',
      ),
      'J.md': may(RESULT),
    },
    // After each refused answer, three reminders, and a judge with three reminders.
    3 * 4 + 3 * 4,
  ],
  ['a handover', { 'START.md': may('tag: compact, target: A'), 'A.md': may(RESULT) }, 4 + 1 + 4],
  [
    'placeholders that a model fills',
    { 'START.md': `---\nfill: haiku\n---\n{{thing}} <result>x</result>` },
    1 + 4,
  ],
  [
    'forks of a script, each printed once',
    {
      'START.sh': `echo '<fork next="END">A</fork>'\necho '<fork next="END">A</fork>'`,
      'A.md': may(RESULT),
      'END.md': may(RESULT),
    },
    12,
  ],
  [
    'forks in a loop of a script',
    {
      'START.sh': `for i in $x; do echo '<fork next="END">A</fork>'; done`,
      'A.md': may(RESULT),
      'END.md': may(RESULT),
    },
    4 * 1000 + 4,
  ],
  [
    'forks, with --max-agents',
    {
      'START.sh': `for i in $x; do echo '<fork next="END">A</fork>'; done`,
      'A.md': may(RESULT),
      'END.md': may(RESULT),
    },
    4 * 4 + 4,
    { maxAgents: 5 },
  ],
  ['agents that start themselves', { 'START.sh': FORKING('START'), 'END.md': may(RESULT) }, null],
  [
    'agents that start themselves, with --max-agents',
    { 'START.sh': FORKING('START'), 'END.md': may(RESULT) },
    4 * 7,
    { maxAgents: 7 },
  ],
  ['--max-iterations', LOOP, 40, { maxIterations: 10 }],
  ['a target that a script computes', { 'START.sh': 'echo "<goto>$X</goto>"', 'A.md': 'x' }, null],
  [
    'a target that a script computes, with --max-iterations',
    { 'START.sh': 'echo "<goto>$X</goto>"', 'A.md': may(RESULT) },
    12,
    { maxIterations: 3 },
  ],
  ['a workflow that cannot be read', { 'START.md': may('tag: reset-workflow, path: ../x') }, null],
  [
    'a workflow that is called',
    { 'START.md': may('tag: function-workflow, path: ../x, return: END'), 'END.md': may(RESULT) },
    12,
    { others: () => ({ ...workflowOf({ 'START.md': may(RESULT) }), ref: '/x', name: 'x' }) },
  ],
  [
    'workflows that call each other',
    { 'START.md': may('tag: function-workflow, path: ../x, return: END'), 'END.md': may(RESULT) },
    null,
    { others: () => workflowOf({ 'START.md': may('tag: goto, target: START') }) },
  ],
])('%s', (_, files, prompts, options) => {
  expect(boundOf(workflowOf(files), options).prompts).toBe(prompts);
});

function FORKING(target: string): string {
  return `echo '<fork next="END">${target}</fork>'`;
}

test('a loop names its states in order, and one to limit', () => {
  const script = `echo '<function return="START">A</function>'`;
  expect(boundOf(workflowOf({ 'START.sh': script, 'A.md': may(RESULT) })).loops).toEqual([
    { by: 'move', states: ['A.md', 'START.sh'], limit: 'A.md' },
  ]);
  expect(boundOf(workflowOf(LOOP)).loops).toEqual([
    { by: 'move', states: ['START.md', 'A.md'], limit: 'START.md' },
  ]);
});

test('a loop that a cost or a person holds up has no bound, but does not spend without a limit', () => {
  const costs = 'evaluators:\n  - {cost: 2, then: {tag: result, payload: x}}\n';
  const workflow = workflowOf({ ...LOOP, 'START.md': may(TO('A'), costs) });
  expect(boundOf(workflow).prompts).toBe(null);
  expect(loopsOf(workflow)).toEqual([]);
  const asks = workflowOf({ ...LOOP, 'START.md': may('tag: ask, next: A') });
  expect(boundOf(asks).prompts).toBe(null);
  expect(loopsOf(asks)).toEqual([]);
  expect(loopsOf(workflowOf(LOOP))).toHaveLength(1);
});

test('the worst paths come first', () => {
  const workflow = workflowOf({
    'START.md': may(`${TO('A')}; ${TO('B')}; ${RESULT}`),
    'A.md': may(`${TO('A')}; ${TO('B')}`, 'max_visits: 2\n'),
    'B.md': may(RESULT),
  });
  const { paths } = boundOf(workflow, { turnUsd: 0.5 });
  expect(paths.map(({ prompts, cost_usd, steps }) => [prompts, cost_usd, steps.length])).toEqual([
    [16, 8, 3],
    [8, 4, 2],
    [4, 2, 1],
  ]);
  expect(paths[0]?.steps[1]).toEqual({ kind: 'loop', states: ['A.md'] });
});

test('finished runs say what a visit costs and takes', () => {
  const workflow = workflowOf({
    ...LOOP,
    'A.md': may(`${TO('START')}; ${RESULT}`, 'max_visits: 2\n'),
  });
  const visits = new Map([
    ['START.md', { usd: 1, ms: 1000 }],
    ['A.md', { usd: 10, ms: 5000 }],
  ]);
  expect(boundOf(workflow, { usual: { runs: 3, visits } })).toMatchObject({
    cost_usd: 23,
    time_ms: 13_000,
    price: { from: 'runs', runs: 3 },
  });
  visits.delete('A.md');
  expect(boundOf(workflow, { usual: { runs: 3, visits } })).toMatchObject({
    cost_usd: null,
    time_ms: null,
    price: { from: 'nothing', runs: 3, states: ['A.md'] },
  });
});

test('what the figures stand on is said', () => {
  const workflow = workflowOf({
    'START.md': '<fork next="ASK">A</fork>',
    'ASK.md': may('tag: ask, next: END'),
    'A.md': '<result>x</result>',
    'END.md': may(RESULT),
  });
  expect(boundOf(workflow)).toMatchObject({
    agents: 1001,
    forking: ['START.md'],
    free: ['START.md', 'A.md'],
    asking: ['ASK.md'],
    prompts: 1 + 1000 + 8,
    prompts_with_retries: 4 * 1009,
  });
});
