import { expect, test } from 'vitest';
import { answered, failed, interrupted, makeRun } from '../../test/make-run.ts';
import type { RunEvent } from '../model/event.ts';
import { apply } from './apply.ts';
import { newRun, visitKey } from './new-run.ts';

const flow = { START: [], N: [], 'S.sh': [] };

test('a run begins with one agent at its entry', () => {
  const { run } = makeRun(flow, { input: 'v', metadata: { issue: '1' } });
  expect(run).toMatchObject({
    id: 'flow-00000000',
    workflow: '/flow',
    metadata: { issue: '1' },
    status: { kind: 'active' },
    iterations: 0,
    totalCostUsd: 0,
    tally: { ready: 1 },
  });
  expect([...run.agents]).toMatchObject([
    ['main', { state: 'START.md', session: { kind: 'none' }, stack: [], input: 'v', steps: 0 }],
  ]);
});

test('visits are counted for each state of each workflow', () => {
  const stage = makeRun(flow, { others: { '/sub': flow } });
  stage.turn('<goto>START</goto>');
  stage.turn('<call-workflow return="START">/sub</call-workflow>');
  stage.turn('<result>x</result>');
  const { visits } = stage.agent();
  expect(Object.entries(visits)).toEqual([
    ['/flow#START.md', 3],
    ['/sub#START.md', 1],
  ]);
  expect(visitKey('/flow', stage.agent().state)).toBe('/flow#START.md');
});

test.each([
  ['that ended', '<goto>N</goto>', { kind: 'open', id: 's1', executor: 'scripted' }],
  ['that failed', failed('crashed'), { kind: 'none' }],
  ['that continues', interrupted(), { kind: 'open', id: 's1', executor: 'scripted' }],
  ['that restarts', interrupted(false), { kind: 'none' }],
])('the session after a turn %s', (_, report, session) => {
  const stage = makeRun(flow);
  stage.turn(report);
  expect(stage.agent().session).toEqual(session);
});

test('step numbers of an agent are never reused, and costs count for the agent and the run', () => {
  const stage = makeRun(flow, { settings: { budgetUsd: 0 } });
  stage.turn('<fork next="N">S</fork>', 'main', 0.25);
  stage.turn('<goto>N</goto>', 'main', 0.5);
  stage.turn('<result>x</result>', 'main_s1');
  expect(stage.agent()).toMatchObject({ steps: 2, costUsd: 0.75 });
  expect(stage.run.endedAgents.get('main_s1')).toMatchObject({ steps: 1, costUsd: 0 });
  expect(stage.run).toMatchObject({ totalCostUsd: 0.75, dearestTurnUsd: 0.5, iterations: 3 });
});

test('an agent that ended is kept with its parent, its result, and the state of the result', () => {
  const stage = makeRun(flow);
  stage.turn('<fork next="N">S</fork>');
  expect(stage.agent('main_s1').parent).toBe('main');
  stage.turn('<goto>N</goto>', 'main_s1');
  stage.turn('<result>done</result>', 'main_s1', 0.5);
  const at = stage.run.updatedAt;
  expect(stage.run.endedAgents.get('main_s1')).toEqual({
    at,
    parent: 'main',
    workflow: '/flow',
    state: 'N.md',
    variables: {},
    end: { kind: 'ended', result: 'done' },
    steps: 2,
    costUsd: 0.5,
    isPriced: false,
  });
});

test('a running step has its state and its executor', () => {
  const stage = makeRun(flow);
  const executors = { prompt: 'claude', script: 'script' };
  const input = { at: stage.now, agent: 'main', newSession: 's1', executors, worker: 'here:1' };
  stage.handle({ kind: 'start-step', ...input });
  const running = { state: 'START.md', executor: 'claude', worker: 'here:1' };
  expect(stage.agent().status).toMatchObject(running);
  expect(stage.events.at(-1)).toMatchObject({ type: 'step-started', ...running });
});

test('an agent continues in the session in which its step ended', () => {
  const stage = makeRun(flow);
  stage.start();
  const session = { id: 'other', checkpoint: 'm7' };
  const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 };
  const account = { cost: { usd: 0.5, from: 'priced' }, usage, session, tree: 't1' } as const;
  expect(stage.end({ ...answered(stage, stage.agent(), '<goto>N</goto>'), account })).toMatchObject(
    [
      { type: 'step-ended', ...account },
      { type: 'agent-moved', session: { kind: 'open', id: 'other', executor: 'scripted' } },
    ],
  );
  expect(stage.agent().session).toEqual({ kind: 'open', id: 'other', executor: 'scripted' });
});

test('only the result of the first agent is the result of the run', () => {
  const stage = makeRun(flow);
  stage.turn('<fork next="N">N</fork>');
  stage.turn('<result>child</result>', 'main_n1');
  expect(stage.run.result).toBeUndefined();
  stage.turn('<result>first</result>');
  expect(stage.run.result).toBe('first');
});

const at = { at: 5, agent: 'nobody' };
const failure = { kind: 'crashed', message: '' } as const;
const cost = { usd: 3, from: 'told' } as const;
test.each<RunEvent>([
  { type: 'step-ended', ...at, step: 1, cost, denied: [] },
  { type: 'step-failed', ...at, step: 1, cost, failure },
  { type: 'step-interrupted', ...at, step: 1, cost, repeat: 'continue' },
  { type: 'agent-answered', ...at, text: 'x' },
  { type: 'question-timed-out', ...at },
  { type: 'agent-reminded', ...at, number: 1, failure, text: 'x' },
  { type: 'agent-waits', ...at, until: 9 },
  { type: 'agent-woke', ...at },
  { type: 'agent-failed', ...at, failure },
  { type: 'agent-ended', ...at, result: 'x' },
])('$type of an unknown agent changes only the time and the number', (event) => {
  expect(apply(newRun, event)).toEqual({ ...newRun, seq: 1, updatedAt: 5 });
});

test.each(['step-ended', 'step-failed', 'step-interrupted'] as const)(
  '%s of an agent that does not run changes only the time and the number',
  (type) => {
    const stage = makeRun(flow);
    stage.turn('<ask next="N">?</ask>');
    const over = { at: 5, agent: 'main', step: 1, cost };
    const event = { type, ...over, denied: [], failure, repeat: 'restart' } as RunEvent;
    expect(apply(stage.run, event)).toEqual({ ...stage.run, seq: stage.run.seq + 1, updatedAt: 5 });
  },
);
