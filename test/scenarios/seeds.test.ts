import { expect, test } from 'vitest';
import { apply } from '../../src/interpret/apply.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import { type Played, play } from '../../src/testing.ts';

/** The depth of the first agent's stack at each of its steps. */
function depths({ events }: Played): readonly number[] {
  let run = newRun;
  return events.flatMap((event) => {
    run = apply(run, event);
    const isStep = event.type === 'step-started' && event.agent === 'main';
    return isStep ? [run.agents.get('main')?.stack.length ?? -1] : [];
  });
}

const sessions = ({ steps }: Played) => steps.map(({ session }) => session?.id);
const uses = ({ steps }: Played) => steps.map(({ session }) => session?.use);

test('the five-hop call: a callee may move to other states, and its result returns to the caller', async () => {
  const played = await play({
    START: ['<goto>S1</goto>'],
    S1: ['<call return="S3.md">S2.md</call>'],
    S2: ['<goto>S4.md</goto>'],
    S4: ['<goto>S5</goto>'],
    S5: ['<result>found it</result>'],
    S3: { text: 'Got {{result}}.', answers: ['<result>done</result>'] },
  });
  expect(played.path()).toEqual(['START', 'S1', 'S2', 'S4', 'S5', 'S3']);
  expect(depths(played)).toEqual([0, 0, 1, 1, 1, 0]);
  const callee = played.steps[2]?.session?.id;
  expect(played.steps.map((s) => s.session)).toEqual([
    { use: 'fresh', id: 's1' },
    { use: 'continue', id: 's1' },
    { use: 'branch', from: 's1', id: callee },
    { use: 'continue', id: callee },
    { use: 'continue', id: callee },
    { use: 'continue', id: 's1' },
  ]);
  expect(played.steps[5]?.prompt).toBe('Got found it.');
  expect(played.run.result).toBe('done');
  expect(played.run.status).toEqual({ kind: 'ended', outcome: 'completed' });
});

test('the combined example: evaluate, plan, forget, implement, review, commit', async () => {
  const again = (state: string, times: number) =>
    Array<string>(times).fill(`<goto>${state}</goto>`);
  const played = await play({
    START: ['<function return="WORK">PICK</function>'],
    PICK: ['<result>issue 195</result>'],
    WORK: { text: 'Work on {{result}}.', answers: ['<call return="PLANNED">PLAN</call>'] },
    PLAN: [...again('PLAN', 2), '<result>plan-195.md</result>'],
    PLANNED: { text: 'Implement {{result}}.', answers: ['<reset>IMPLEMENT</reset>'] },
    IMPLEMENT: ['<call return="REVIEW">FIX</call>'],
    FIX: [...again('FIX', 4), '<result>green</result>'],
    REVIEW: {
      text: 'Review: {{result}}.',
      answers: ['<function return="COMMIT">READY</function>'],
    },
    READY: ['<result>YES</result>'],
    COMMIT: { text: 'Ready? {{result}}', answers: ['<result>closed</result>'] },
  });
  expect(played.path()).toEqual([
    ...['START', 'PICK', 'WORK', 'PLAN', 'PLAN', 'PLAN', 'PLANNED'],
    ...['IMPLEMENT', 'FIX', 'FIX', 'FIX', 'FIX', 'FIX', 'REVIEW', 'READY', 'COMMIT'],
  ]);
  expect(depths(played)).toEqual([0, 1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 1, 0]);
  const [main, pick, , plan, , , , implement, fix, , , , , , ready] = sessions(played);
  expect(new Set([main, pick, plan, implement, fix, ready]).size).toBe(6);
  expect(sessions(played)).toEqual([
    ...[main, pick, main, plan, plan, plan, main],
    ...[implement, fix, fix, fix, fix, fix, implement, ready, implement],
  ]);
  expect(uses(played).filter((use) => use === 'branch')).toHaveLength(2);
  const prompts = new Map(played.steps.map(({ state, prompt }) => [state, prompt]));
  expect(prompts.get('WORK.md')).toBe('Work on issue 195.');
  expect(prompts.get('PLANNED.md')).toBe('Implement plan-195.md.');
  expect(prompts.get('REVIEW.md')).toBe('Review: green.');
  expect(prompts.get('COMMIT.md')).toBe('Ready? YES');
  expect(played.run.result).toBe('closed');
});

test('fork children: a dispatcher loops in its session, and each child has its own session', async () => {
  const child = `---
allowed_transitions:
  - { tag: result }
---
Process item: {{item}}`;
  const played = await play(
    {
      START: [
        '<fork next="START" item="item1">WORKER.md</fork>',
        '<fork next="START" item="item2">WORKER.md</fork>',
        '<result>all out</result>',
      ],
      WORKER: { text: child, answers: (step) => `<result>Processed by ${step.agent}</result>` },
    },
    { settings: { budgetUsd: 0 } },
  );
  expect(played.path()).toEqual(['START', 'START', 'START']);
  const children = played.steps.filter(({ state }) => state === 'WORKER.md');
  expect(children.map(({ agent, prompt }) => [agent, prompt])).toEqual([
    ['main_worker1', 'Process item: item1'],
    ['main_worker2', 'Process item: item2'],
  ]);
  expect(children.every(({ session }) => session?.use === 'fresh')).toBe(true);
  const own = played.steps.filter(({ agent }) => agent === 'main');
  expect(own.map(({ session }) => session?.id)).toEqual(['s1', 's1', 's1']);
  expect(played.run.result).toBe('all out');
  expect([...played.run.endedAgents].map(([id]) => id).sort()).toEqual([
    'main',
    'main_worker1',
    'main_worker2',
  ]);
});

test('hybrid: a script polls without cost, and a prompt runs when there is work', async () => {
  const played = await play({
    'START.sh': ['<reset>START.sh</reset>', '<goto>PROCESS.md</goto>', '<goto>PROCESS</goto>'],
    PROCESS: {
      text: '---\nallowed_transitions:\n  - { tag: reset, target: START.sh }\n  - { tag: result }\n---\nWork.',
      answers: [
        { text: '<reset>START</reset>', costUsd: 0.2 },
        '<result>All tasks processed</result>',
      ],
    },
  });
  expect(played.path()).toEqual(['START', 'START', 'PROCESS', 'START', 'PROCESS']);
  expect(uses(played)).toEqual([undefined, undefined, 'fresh', undefined, 'fresh']);
  expect(played.run).toMatchObject({ totalCostUsd: 0.2, result: 'All tasks processed' });
});

test('plan then implement: the only allowed reset need not be written', async () => {
  const played = await play({
    START: {
      text: '---\nallowed_transitions:\n  - { tag: reset, target: IMPLEMENT.md }\n---\nPlan.',
      answers: ['The plan is in plan.md.'],
    },
    IMPLEMENT: {
      text: '---\nallowed_transitions:\n  - { tag: goto, target: IMPLEMENT.md }\n  - { tag: result }\n---\nImplement.',
      answers: ['<goto>IMPLEMENT.md</goto>', 'They pass now.', '<result>Done</result>'],
    },
  });
  expect(played.path()).toEqual(['START', 'IMPLEMENT', 'IMPLEMENT', 'IMPLEMENT']);
  expect(uses(played)).toEqual(['fresh', 'fresh', 'continue', 'continue']);
  expect(played.steps[3]?.prompt).toContain(
    '    <goto>IMPLEMENT.md</goto>\n    <result>[your result]</result>',
  );
});

test('evaluator decision point: a cheap function decides, and the loop continues in its own session', async () => {
  const evaluate = `---
model: haiku
allowed_transitions:
  - { tag: result }
---
Is the task complete?

{{result}}`;
  const played = await play(
    {
      START: [
        '<function return="DECIDE" input="2 tests fail">EVALUATE</function>',
        '<function return="DECIDE" input="all pass">EVALUATE</function>',
      ],
      EVALUATE: { text: evaluate, answers: ['<result>NO</result>', '<result>YES</result>'] },
      DECIDE: {
        text: 'Complete: {{result}}',
        answers: ['<goto>START</goto>', '<result>done</result>'],
      },
    },
    { settings: { agent: { model: 'opus' } } },
  );
  expect(played.path()).toEqual(['START', 'EVALUATE', 'DECIDE', 'START', 'EVALUATE', 'DECIDE']);
  expect(played.steps.map(({ model }) => model)).toEqual([
    'opus',
    'haiku',
    'opus',
    'opus',
    'haiku',
    'opus',
  ]);
  expect(played.steps[1]?.prompt).toBe('Is the task complete?\n\n2 tests fail');
  expect(played.steps[5]?.prompt).toBe('Complete: YES');
  expect(sessions(played)[5]).toBe('s1');
});

test('a called loop that resets drops its context and still returns', async () => {
  const played = await play({
    START: ['<call return="DONE">LOOP</call>'],
    LOOP: [
      '<reset>LOOP</reset>',
      '<reset cd="/elsewhere">LOOP</reset>',
      '<result>third time</result>',
    ],
    DONE: { text: 'Got {{result}}.', answers: ['<result>ok</result>'] },
  });
  expect(played.path()).toEqual(['START', 'LOOP', 'LOOP', 'LOOP', 'DONE']);
  expect(depths(played)).toEqual([0, 1, 1, 1, 0]);
  expect(uses(played)).toEqual(['fresh', 'branch', 'fresh', 'fresh', 'continue']);
  expect(played.steps[4]).toMatchObject({
    prompt: 'Got third time.',
    cwd: '/project',
    session: { id: 's1' },
  });
  expect(played.steps[3]?.cwd).toBe('/elsewhere');
});

test('budget override: the loop ends when the budget is spent', async () => {
  const played = await play(
    { START: () => ({ text: '<goto>START</goto>', costUsd: 4 }) },
    { settings: { budgetUsd: 10 } },
  );
  expect(played.path()).toEqual(['START', 'START', 'START']);
  expect(played.run.status).toEqual({ kind: 'ended', outcome: 'stopped: budget' });
  expect(played.run.totalCostUsd).toBe(12);
  expect(played.run.agents.get('main')).toMatchObject({
    state: 'START.md',
    status: { kind: 'ready' },
  });
});
