import { expect, test } from 'vitest';
import { interrupted, makeRun, type Stage } from '../../test/make-run.ts';
import { Steps } from '../history/steps.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { StepMessage } from '../model/conversation.ts';
import { contextForm, type ReadStep, sessionSteps } from './context-form.ts';

function stepsOf({ events }: Stage): Steps {
  const steps = new Steps();
  let run = newRun;
  for (const event of events) {
    run = apply(run, event);
    steps.follow(event, run);
  }
  return steps;
}

const chainOf = (steps: Steps, number: number, agent = 'main') => {
  const step = steps.find(agent, number);
  return step && sessionSteps(steps, step).map(({ started }) => started.step);
};

test('a session has the steps that it continues or branches, and nothing after a compact or reset', () => {
  const stage = makeRun({ START: [], N: [], S: [] });
  stage.turn('<goto>N</goto>');
  stage.turn('<call return="N">S</call>');
  stage.turn('<compact>S</compact>');
  stage.turn('notes');
  stage.turn('<result>x</result>');
  stage.turn('<goto>N</goto>');
  stage.turn(interrupted(false));
  stage.turn('<reset>S</reset>');
  stage.start();
  const steps = stepsOf(stage);
  const chains = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((step) => chainOf(steps, step));
  expect(chains).toEqual([
    [1],
    [1, 2],
    [1, 2, 3],
    [1, 2, 3, 4],
    [5],
    [1, 2, 6],
    [1, 2, 6, 7],
    [1, 2, 6, 8],
    [9],
  ]);
});

const said = (text: string): StepMessage => ({ kind: 'text', text, omitted: 0 });
const result = (text: string, inner = false): StepMessage => ({
  kind: 'tool-result',
  call: 'c',
  failed: false,
  inner,
  text,
  omitted: 60,
});

function read(sizes: readonly (number | undefined)[]): readonly ReadStep[] {
  const stage = makeRun({ START: [] });
  for (const contextTokens of sizes) {
    const account = { cost: { usd: 0, from: 'told' as const } };
    const size = contextTokens === undefined ? {} : { contextTokens };
    stage.start();
    const [ended] = stage.end('<goto>START</goto>');
    if (ended?.type === 'step-ended') stage.events.splice(-2, 1, { ...ended, ...account, ...size });
  }
  return stepsOf(stage).all.map((facts) => ({
    facts,
    told: `notes ${'p'.repeat(34)}`,
    messages: [said('a'.repeat(20)), result('r'.repeat(40)), result('inner', true)],
    handover: facts.started.step === 1 ? 'notes' : undefined,
  }));
}

test('reported sizes give the tokens of each step, and its kinds share them by length', () => {
  const { tokens, reported, kinds, steps } = contextForm('r', read([1000, 1640]));
  expect({ tokens, reported }).toEqual({ tokens: 1640, reported: true });
  expect(steps.map((step) => step.tokens)).toEqual([1000, 640]);
  expect(steps[0]?.kinds.system).toBe(960);
  expect(steps[0]?.kinds.handover).toBe(1);
  expect(steps[1]?.kinds).toEqual({
    system: 0,
    handover: 0,
    prompts: 160,
    answers: 80,
    tool_calls: 0,
    tool_results: 400,
  });
  expect(Object.values(kinds).reduce((sum, count) => sum + count, 0)).toBe(1640);
});

test('without reports, four characters count as one token', () => {
  const { tokens, reported, kinds } = contextForm('r', read([1000, undefined]));
  expect({ tokens, reported, system: kinds.system }).toEqual({
    tokens: 80,
    reported: false,
    system: 0,
  });
});
