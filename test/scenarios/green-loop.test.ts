/** Fix until the tests pass, then let a fresh reviewer decide. Everything that happens is asserted. */
import { expect, test } from 'vitest';
import { lint } from '../../src/lint/lint.ts';
import { type Answers, play, type Script, scriptedWorkflow } from '../../src/testing.ts';

const TEXTS = {
  START: `---
allowed_transitions:
  - { tag: goto, target: CHECK }
---
The task: {{input}}. Work on it, then end with <goto>CHECK</goto>.`,
  'CHECK.sh': `if out=$(npm test 2>&1); then echo '<goto>REVIEW</goto>'
else raymond tag goto FIX --input "$out"; echo "<goto input='the output'>FIX</goto>"; fi`,
  FIX: `---
max_visits: 3
allowed_transitions:
  - { tag: goto, target: CHECK }
evaluators:
  - { matches: "(?i)cannot fix", then: { tag: result, payload: gave up } }
---
The tests say: {{input}}. Fix the code, then end with <goto>CHECK</goto>.`,
  REVIEW: `---
allowed_transitions:
  - { tag: function, target: JUDGE, return: DECIDE, model: opus }
---
Sum up your change. <function return="DECIDE" model="opus">JUDGE</function>`,
  JUDGE: `---
allowed_transitions: [{ tag: result }]
---
Review the change. <result>ok, or what is wrong</result>`,
  DECIDE: `---
allowed_transitions:
  - { tag: result }
  - { tag: goto, target: FIX }
---
The reviewer says: {{result}}. Then <goto>FIX</goto> or <result>done</result>.`,
};

function flow(answers: Readonly<Record<string, Answers>>): Script {
  return Object.fromEntries(
    Object.entries(TEXTS).map(([name, text]) => [name, { text, answers: answers[name] ?? [] }]),
  );
}

const CHECK = '<goto>CHECK</goto>';
const red = (why: string) => `<goto input="${why}">FIX</goto>`;

test('the workflow has no error', () => {
  const faults = lint(scriptedWorkflow(flow({})));
  expect(faults.filter(({ severity }) => severity === 'error')).toEqual([]);
});

test('red, green, rejected, green, accepted', async () => {
  const played = await play(
    flow({
      START: [{ text: CHECK, costUsd: 1 }],
      'CHECK.sh': [red('2 of 9 fail'), '<goto>REVIEW</goto>', '<goto>REVIEW</goto>'],
      FIX: [
        { text: CHECK, costUsd: 0.5 },
        { text: CHECK, costUsd: 0.5 },
      ],
      REVIEW: () => ({ text: 'Changed a.ts.', costUsd: 0.1 }),
      JUDGE: [
        { text: '<result>Names are unclear.</result>', costUsd: 0.2 },
        { text: '<result>ok</result>', costUsd: 0.2 },
      ],
      DECIDE: ['<goto>FIX</goto>', '<result>done: a.ts</result>'],
    }),
    { input: 'make it faster' },
  );
  expect(played.path()).toEqual([
    ...['START', 'CHECK', 'FIX', 'CHECK', 'REVIEW', 'JUDGE', 'DECIDE'],
    ...['FIX', 'CHECK', 'REVIEW', 'JUDGE', 'DECIDE'],
  ]);
  const prompts = played.steps.filter(({ prompt }) => prompt !== '').map(({ prompt }) => prompt);
  expect(prompts[0]).toContain('The task: make it faster.');
  expect(prompts[1]).toContain('The tests say: 2 of 9 fail.');
  expect(prompts[4]).toContain('The reviewer says: Names are unclear..');
  // The way from DECIDE passes no input.
  expect(prompts[5]).toContain('The tests say: .');
  expect(prompts[8]).toContain('The reviewer says: ok.');
  const judges = played.steps.filter(({ state }) => state === 'JUDGE.md');
  expect(judges.map(({ session, model }) => [session?.use, model])).toEqual([
    ['fresh', 'opus'],
    ['fresh', 'opus'],
  ]);
  const main = played.steps[0]?.session?.id;
  const others = played.steps.filter(({ state, session }) => session && state !== 'JUDGE.md');
  expect(new Set(others.map(({ session }) => session?.id))).toEqual(new Set([main]));
  expect(new Set(judges.map(({ session }) => session?.id)).size).toBe(2);
  expect(played.run).toMatchObject({
    status: { kind: 'ended', outcome: 'completed' },
    result: 'done: a.ts',
    iterations: 12,
  });
  expect(played.run.totalCostUsd).toBeCloseTo(2.6, 9);
});

test('the fourth attempt to fix is not made', async () => {
  const played = await play(
    flow({ START: [CHECK], 'CHECK.sh': () => red('still red'), FIX: () => CHECK }),
    { input: 'x' },
  );
  expect(played.path()).toEqual(['START', 'CHECK', 'FIX', 'CHECK', 'FIX', 'CHECK', 'FIX', 'CHECK']);
  const failed = played.events.find((event) => event.type === 'agent-failed');
  expect(failed).toMatchObject({
    failure: {
      kind: 'too-many-visits',
      message: 'main has entered FIX.md 3 times, which is the limit (max_visits).',
    },
  });
  expect(played.run.status).toEqual({ kind: 'ended', outcome: 'failed' });
});

test('an agent that gives up ends the run with its evaluator, not with its tag', async () => {
  const played = await play(
    flow({ START: [CHECK], 'CHECK.sh': [red('red')], FIX: [`I Cannot Fix this. ${CHECK}`] }),
    { input: 'x' },
  );
  expect(played.path()).toEqual(['START', 'CHECK', 'FIX']);
  expect(played.events.find(({ type }) => type === 'transition-overridden')).toBeDefined();
  expect(played.run).toMatchObject({
    status: { kind: 'ended', outcome: 'completed' },
    result: 'gave up',
  });
});

test('the budget ends the loop between two steps, and counts every turn', async () => {
  const played = await play(
    flow({
      START: [{ text: CHECK, costUsd: 1 }],
      'CHECK.sh': () => red('red'),
      FIX: () => ({ text: CHECK, costUsd: 1 }),
    }),
    { input: 'x', settings: { budgetUsd: 2.5 } },
  );
  expect(played.path()).toEqual(['START', 'CHECK', 'FIX', 'CHECK', 'FIX']);
  expect(played.run).toMatchObject({
    status: { kind: 'ended', outcome: 'stopped: budget' },
    totalCostUsd: 3,
  });
});
