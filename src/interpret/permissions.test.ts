import { describe, expect, test } from 'vitest';
import { makeRun, type Stage } from '../../test/make-run.ts';
import type { PermissionRequest } from '../model/permission.ts';

const push: PermissionRequest = {
  request: 'r1',
  tool: 'Bash',
  summary: 'git push',
  input: 'command: git push',
  rules: ['Bash(git push *)'],
};
const once: PermissionRequest = { ...push, request: 'r2', rules: undefined };
const question: PermissionRequest = { ...once, request: 'r3', isQuestion: true };

/** A run whose first step asks. */
function asking(...requests: readonly PermissionRequest[]): Stage {
  const stage = makeRun({ START: [], WORK: [] }, { settings: { budgetUsd: 0 } });
  stage.start();
  for (const request of requests) asks(stage, request);
  return stage;
}

const asks = (stage: Stage, request: PermissionRequest, agent = 'main', step = 1) =>
  stage.handle({ kind: 'permission-requested', at: stage.now, agent, step, request });

const decides = (
  stage: Stage,
  request: string,
  decision: 'allow' | 'allow-run' | 'deny' | 'answer',
  more: { readonly text?: string; readonly by?: string; readonly step?: number } = {},
) =>
  stage.handle({
    ...{ kind: 'permission-decided', at: stage.now, agent: 'main', step: 1, request, decision },
    ...more,
  });

const types = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type);

function open({ run }: Stage, agent = 'main'): readonly string[] {
  const status = run.agents.get(agent)?.status;
  return status?.kind === 'running' ? status.requests.map(({ request }) => request) : [];
}

test('a request is recorded once, also if it is reported again', () => {
  const stage = asking(push, once, push);
  expect(types(stage.events).slice(2)).toEqual(['permission-asked', 'permission-asked']);
  expect(open(stage)).toEqual(['r1', 'r2']);
  expect(stage.run.tally).toMatchObject({ promptsRunning: 1, asksPermission: 1 });
  decides(stage, 'r1', 'allow');
  expect(asks(stage, push)).toEqual([]);
  decides(stage, 'r2', 'deny', { text: 'no' });
  expect(stage.run.tally).toMatchObject({ promptsRunning: 1, asksPermission: 0 });
});

test('a request of an earlier step is ignored, and so is a decision about it', () => {
  const stage = asking();
  expect(asks(stage, push, 'main', 2)).toEqual([]);
  asks(stage, push);
  expect(decides(stage, 'r1', 'allow', { step: 2 })).toEqual([]);
  expect(open(stage)).toEqual(['r1']);
});

test.each([
  [push, 'allow', true],
  [push, 'allow-run', true],
  [push, 'deny', true],
  [push, 'answer', false],
  [once, 'allow', true],
  [once, 'allow-run', false],
  [question, 'allow', false],
  [question, 'allow-run', false],
  [question, 'answer', true],
  [question, 'deny', true],
] as const)('%o: %s is possible: %s', (request, decision, isPossible) => {
  const stage = asking(request);
  const events = decides(stage, request.request, decision, { text: 'x', by: 'ann' });
  expect(types(events)).toEqual(isPossible ? ['permission-answered'] : []);
});

const exact: PermissionRequest = { ...push, rules: ['this call #1'], isExact: true };
const byRule = { type: 'permission-answered', decision: 'allow', rule: 'this call #1' };

test('what is allowed for the run is not asked again, if the rule stands for this very call', () => {
  const stage = asking(exact);
  decides(stage, 'r1', 'allow-run');
  expect(asks(stage, { ...exact, request: 'r4' })).toMatchObject([{ ...byRule, request: 'r4' }]);
  expect(open(stage)).toEqual([]);
  // A process that adopts the step gives the decision to the agent again.
  const status = stage.run.agents.get('main')?.status;
  expect(status).toMatchObject({ decided: [{}, { request: 'r4', decision: 'allow' }] });
  expect(asks(stage, { ...exact, request: 'r4' })).toEqual([]);
  const others = [{ rules: ['this call #2'] }, { rules: ['this call #1', 'x'] }, { rules: [] }];
  for (const [index, other] of others.entries())
    expect(types(asks(stage, { ...exact, ...other, request: `o${index}` }))).toEqual([
      'permission-asked',
    ]);
});

test('only the agent compares rules that are not exact', () => {
  const stage = asking(push);
  decides(stage, 'r1', 'allow-run');
  expect(types(asks(stage, { ...push, request: 'r4' }))).toEqual(['permission-asked']);
});

test('a decision for the run settles the same call of others that wait', () => {
  const stage = asking(exact, { ...exact, request: 'r4' }, { ...push, request: 'r5' });
  expect(decides(stage, 'r1', 'allow-run')).toMatchObject([
    { decision: 'allow-run', rules: exact.rules },
    { ...byRule, request: 'r4' },
  ]);
  expect(open(stage)).toEqual(['r5']);
  expect(stage.run.settings.granted).toEqual(exact.rules);
});

test('the second decision about a request gives no events', () => {
  const stage = asking(push);
  decides(stage, 'r1', 'deny', { text: 'not on main' });
  expect(decides(stage, 'r1', 'allow')).toEqual([]);
  expect(stage.agent().status).toMatchObject({
    requests: [],
    decided: [{ request: 'r1', decision: 'deny', text: 'not on main' }],
  });
});

test('rules that are allowed for the run are settings of the run, each once', () => {
  const stage = asking(push, { ...push, request: 'r9' });
  expect(decides(stage, 'r1', 'allow-run')).toMatchObject([{ rules: ['Bash(git push *)'] }]);
  decides(stage, 'r9', 'allow-run');
  expect(stage.run.settings.granted).toEqual(['Bash(git push *)']);
  stage.end('<result>x</result>');
  stage.resume();
  expect(stage.run.settings.granted).toEqual(['Bash(git push *)']);
});

test('the agent may withdraw a request', () => {
  const stage = asking(push);
  const withdraw = () =>
    stage.handle({
      ...{ kind: 'permission-withdrawn', at: stage.now, agent: 'main', step: 1, request: 'r1' },
    });
  expect(types(withdraw())).toEqual(['permission-withdrawn']);
  expect(withdraw()).toEqual([]);
  expect(stage.run.tally.asksPermission).toBe(0);
});

test('the end of the step ends its requests', () => {
  const stage = asking(push);
  stage.end({
    kind: 'interrupted',
    sessionUsable: true,
    account: { cost: { usd: 1, from: 'told' } },
  });
  expect(stage.run.tally).toMatchObject({ asksPermission: 0, promptsRunning: 0, ready: 1 });
  expect(decides(stage, 'r1', 'allow')).toEqual([]);
});

describe('a run in which all steps wait for a permission', () => {
  test('ends as waiting if no person can answer', () => {
    expect(asking(push).idle()).toMatchObject([{ type: 'run-ended', outcome: 'waiting' }]);
  });

  test('waits for a person who can answer', () => {
    expect(asking(push).idle({ attended: true })).toEqual([]);
  });

  test.each(['drain', 'now'] as const)('is stopped with its steps (%s)', (how) => {
    const stage = asking(push);
    stage.stop(how);
    expect(stage.idle({ attended: true })).toMatchObject(
      how === 'drain' ? [{ type: 'stop-requested', how: 'now', why: 'person' }] : [],
    );
    expect(stage.idle()).toEqual([]);
    stage.end({
      kind: 'interrupted',
      sessionUsable: true,
      account: { cost: { usd: 1, from: 'told' } },
    });
    expect(stage.idle()).toMatchObject([{ type: 'run-ended', outcome: 'interrupted' }]);
  });

  test('does not count the wait as work', () => {
    const stage = asking();
    stage.now += 10_000;
    asks(stage, push);
    const { workedMs } = stage.run;
    stage.now += 3_600_000;
    decides(stage, 'r1', 'allow');
    expect(stage.run.workedMs).toBe(workedMs);
    stage.end('<result>x</result>');
    expect(stage.run.workedMs).toBe(workedMs + 1_000);
  });
});

describe('another agent', () => {
  const forked = (settings: object) => {
    const stage = makeRun({ START: [], NEXT: [], WORK: [] }, { settings });
    stage.turn('<fork next="NEXT">WORK</fork>', 'main', 1);
    stage.start('main');
    asks(stage, push, 'main', 2);
    return stage;
  };

  test('gets the place of a step that waits', () => {
    const stage = forked({ maxParallelPrompts: 1, budgetUsd: 0 });
    expect(types(stage.start('main_work1'))).toEqual(['step-started']);
    expect(stage.idle()).toEqual([]);
  });

  test('does not get the money of a step that waits, and then the run waits', () => {
    const stage = forked({ budgetUsd: 1.05 });
    expect(stage.start('main_work1')).toEqual([]);
    expect(stage.idle()).toMatchObject([{ type: 'run-ended', outcome: 'waiting' }]);
  });
});
