import { describe, expect, test } from 'vitest';
import { play } from '../../src/testing.ts';

const crash = { failure: { kind: 'crashed', message: 'It crashed.' } } as const;
const noCredit = { failure: { kind: 'no-credit', message: 'No credit.' } } as const;
const outcome = (value: string) => ({ kind: 'ended', outcome: value });

test('a crash is retried in the session as it was before', async () => {
  const { steps, run } = await play({
    START: ['<goto>N</goto>'],
    N: [crash, crash, crash, '<result>at last</result>'],
  });
  expect(steps.map(({ session }) => session?.id)).toEqual(['s1', 's1', 's1', 's1', 's1']);
  expect(run).toMatchObject({ result: 'at last', iterations: 2 });
});

test('the fourth crash fails the agent, and a resume retries it', async () => {
  const failed = await play({ START: [crash, crash, crash, crash] });
  expect(failed.run.status).toEqual(outcome('failed'));
  const resumed = await play({ START: ['<result>ok</result>'] }, { resume: failed.run });
  expect(resumed.run).toMatchObject({ status: outcome('completed'), result: 'ok' });
});

describe('one agent fails', () => {
  const flow = {
    START: ['<fork next="GOOD">BAD</fork>'],
    BAD: [noCredit],
    GOOD: ['<goto>GOOD</goto>', '<result>good</result>'],
  };

  test('the others continue, and the run fails at the end', async () => {
    const { run, path } = await play(flow, { settings: { budgetUsd: 0 } });
    expect(path()).toEqual(['START', 'GOOD', 'GOOD']);
    expect(run).toMatchObject({ status: outcome('failed'), result: 'good' });
  });

  test('with --fail-fast the others are stopped, and can be resumed', async () => {
    const { run } = await play(
      { ...flow, GOOD: ['<goto>GOOD</goto>', '<goto>GOOD</goto>'] },
      { settings: { budgetUsd: 0, failFast: true } },
    );
    expect(run.status).toEqual(outcome('failed'));
    const rest = { START: [], BAD: ['<result>b</result>'], GOOD: ['<result>good</result>'] };
    const resumed = await play(rest, { resume: run });
    expect(resumed.run).toMatchObject({ status: outcome('completed'), result: 'good' });
  });
});

test('a script is not retried', async () => {
  const { steps, run } = await play({
    'START.sh': [{ failure: { kind: 'script-failed', message: 'Exit 1.' } }],
  });
  expect(steps).toHaveLength(1);
  expect(run.status).toEqual(outcome('failed'));
});

describe('a question', () => {
  const flow = {
    START: ['<ask next="PAINT" timeout="24h" timeout_next="GUESS">Which colour?</ask>'],
    PAINT: { text: 'Paint it {{input}}.', answers: ['<result>painted</result>'] },
    GUESS: ['<result>guessed</result>'],
  };
  const plain = { ...flow, START: ['<ask next="PAINT">Which colour?</ask>'] };

  test('that is answered continues in the same session', async () => {
    const { steps } = await play(flow, { answers: ['blue'] });
    expect(steps[1]).toMatchObject({
      prompt: 'Paint it blue.',
      session: { use: 'continue', id: 's1' },
    });
    expect(steps).toHaveLength(2);
  });

  test('that is not answered in time continues at timeout_next', async () => {
    const { path, run } = await play(flow);
    expect(path()).toEqual(['START', 'GUESS']);
    expect(run.result).toBe('guessed');
  });

  test('without a deadline leaves the run waiting, and a resume can pass the answer', async () => {
    const waiting = await play(plain);
    expect(waiting.run.status).toEqual(outcome('waiting'));
    const resumed = await play(plain, { resume: waiting.run, input: 'red' });
    expect(resumed.steps.map(({ prompt }) => prompt)).toEqual(['Paint it red.']);
  });
});

test('other workflows: each has its own states, and a result returns to the caller’s workflow', async () => {
  const sub = {
    START: { text: 'Sub {{input}}.', answers: ['<goto>END</goto>', '<goto>END</goto>'] },
    END: ['<result>from sub</result>', '<result>last</result>'],
  };
  const { path, steps, run } = await play(
    {
      START: ['<call-workflow return="BACK" input="x">/sub</call-workflow>'],
      BACK: {
        text: 'Got {{result}}.',
        answers: ['<reset-workflow cd="/far" input="y">/sub</reset-workflow>'],
      },
    },
    { workflows: { '/sub': sub } },
  );
  expect(path()).toEqual(['START', 'START', 'END', 'BACK', 'START', 'END']);
  expect(steps.map(({ prompt, cwd }) => [prompt, cwd])).toEqual([
    ['Do START.', '/project'],
    ['Sub x.', '/project'],
    ['Do END.', '/project'],
    ['Got from sub.', '/project'],
    ['Sub y.', '/far'],
    ['Do END.', '/far'],
  ]);
  expect(run.result).toBe('last');
});

test('a judge that disagrees sends the work back, in the child’s own session', async () => {
  const judged = `---
evaluators:
  - { prompt: JUDGE, expect: "YES", then: { tag: goto, target: START } }
---
Write.`;
  const { path, steps } = await play({
    START: { text: judged, answers: ['draft <result>1</result>', 'final <result>2</result>'] },
    JUDGE: {
      text: '{{output}} / {{transition}}',
      answers: ['<result>NO</result>', '<result>YES</result>'],
    },
  });
  expect(path()).toEqual(['START', 'JUDGE', 'START', 'JUDGE']);
  expect(steps[1]?.prompt).toBe('draft <result>1</result> / <result>1</result>');
  expect(steps.map(({ session }) => session?.use)).toEqual(['fresh', 'fresh', 'continue', 'fresh']);
  expect(steps[2]?.session?.id).toBe('s1');
});

test('an agent does not leave the project by itself', async () => {
  const script = {
    START: ['<reset cd="/etc">WORK</reset>'],
    WORK: ['<result>ok</result>'],
  };
  const { run, path } = await play(script, { outside: ['/etc'] });
  expect(path()).toEqual(['START']);
  expect(run.agents.get('main')?.status).toMatchObject({ failure: { kind: 'bad-directory' } });
});
