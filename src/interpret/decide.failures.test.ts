import { describe, expect, test } from 'vitest';
import { failed, interrupted, makeRun, type Stage, state, types } from '../../test/make-run.ts';

const two = 'allowed_transitions: [{ tag: goto, target: N }, { tag: result }]';
const others = { N: [], X: [], J: [], R: [] };

describe('failures', () => {
  test('three retries, each from the same session, then the agent fails', () => {
    const stage = makeRun({ START: [], N: [] });
    stage.turn('<goto>N</goto>');
    for (const attempt of [1, 2, 3]) {
      expect(stage.start()).toMatchObject([{ attempt, session: { use: 'continue', id: 's1' } }]);
      expect(types(stage.end(failed('overloaded', 0.1)))).toEqual(['step-failed', 'agent-waits']);
      expect(stage.start()).toEqual([]);
      stage.handle({ kind: 'time-came', at: stage.now + 60_000, agent: 'main' });
    }
    expect(types(stage.turn(failed('overloaded', 0.1)))).toEqual(['step-failed', 'agent-failed']);
    expect(stage.run.totalCostUsd).toBeCloseTo(0.4);
    expect(stage.run.iterations).toBe(2);
  });

  test('a turn that succeeds resets the retries', () => {
    const stage = makeRun({ START: state(two), ...others });
    stage.turn(failed('crashed'));
    stage.handle({ kind: 'time-came', at: stage.now + 60_000, agent: 'main' });
    stage.turn('Done.');
    expect(stage.agent().retries).toBe(0);
  });

  test('a usage limit does not count as an attempt', () => {
    const stage = makeRun({ START: [] });
    for (let n = 0; n < 5; n++) {
      expect(types(stage.turn(failed('usage-limit')))).toEqual(['step-failed', 'usage-limited']);
      stage.now += 10_000_000;
      stage.handle({ kind: 'usage-limit-over', at: stage.now });
    }
    expect(stage.agent()).toMatchObject({ retries: 0, status: { kind: 'ready' } });
  });

  test('the run waits for the latest limit, and the event has its end', () => {
    const stage = makeRun({ START: [], N: [] }, { settings: { budgetUsd: 0 } });
    stage.turn('<fork next="N">N</fork>');
    stage.start();
    stage.start('main_n1');
    stage.end(failed('usage-limit', 0, { resetsAt: 9_000_000 }));
    expect(stage.end(failed('usage-limit', 0, { resetsAt: 3_000_000 }), 'main_n1')).toMatchObject([
      {},
      { type: 'usage-limited', until: 9_060_000 },
    ]);
    expect(Object.values(stage.run.limits)).toEqual([9_060_000]);
  });

  test.each([
    [true, ['step-failed', 'usage-limited']],
    [false, ['step-failed', 'usage-limited', 'stop-requested']],
  ])('wait: %s', (wait, expected) => {
    const stage = makeRun({ START: [] }, { settings: { wait } });
    expect(types(stage.turn(failed('usage-limit')))).toEqual(expected);
    expect(stage.idle()).toMatchObject(wait ? [] : [{ outcome: 'paused' }]);
  });

  test.each([
    [false, ['step-failed', 'agent-failed']],
    [true, ['step-failed', 'agent-failed', 'stop-requested']],
  ])('failFast: %s', (failFast, expected) => {
    const stage = makeRun({ START: [], N: [] }, { settings: { failFast, budgetUsd: 0 } });
    stage.turn('<fork next="N">N</fork>');
    stage.start();
    stage.start('main_n1');
    expect(types(stage.end(failed('not-logged-in')))).toEqual(expected);
    expect(stage.run.status).toMatchObject(
      failFast ? { kind: 'stopping', how: 'now' } : { kind: 'active' },
    );
    stage.end(failFast ? interrupted() : '<result>x</result>', 'main_n1');
    expect(stage.idle()).toMatchObject([{ outcome: 'failed' }]);
  });
});

describe('interrupted steps', () => {
  const restart = 'on_interrupt: restart';
  test.each([
    [
      'continue',
      state('timeout: 5'),
      interrupted(),
      'continuation',
      { use: 'continue', id: 's1' },
      1,
    ],
    [
      'continue, but no session exists',
      state('timeout: 5'),
      interrupted(false),
      'state',
      { use: 'fresh', id: 's2' },
      2,
    ],
    ['restart', state(restart), interrupted(), 'state', { use: 'fresh', id: 's2' }, 2],
  ])('%s', (_, START, report, task, session, attempt) => {
    const stage = makeRun({ START });
    stage.turn(report);
    expect(stage.start()).toMatchObject([{ task, session, attempt }]);
    expect(stage.run.iterations).toBe(1);
  });

  test('a script runs again and sees its attempt number', () => {
    const stage = makeRun({ 'START.sh': [] });
    stage.turn(interrupted());
    expect(stage.start()).toMatchObject([{ task: 'state', attempt: 2 }]);
  });

  test('a judge starts again in its own session', () => {
    const front = 'evaluators: [{ prompt: J, expect: "YES", then: { tag: goto, target: X } }]';
    const stage = makeRun({ START: state(front), ...others });
    stage.turn('<goto>N</goto>');
    stage.turn(interrupted());
    expect(stage.start()).toMatchObject([
      { task: 'judge', session: { use: 'fresh', id: 's3' }, attempt: 2 },
    ]);
    expect(stage.agent().session).toEqual({ kind: 'open', id: 's1', executor: 'scripted' });
  });

  test('an interrupted turn counts its cost', () => {
    const stage = makeRun({ START: [] });
    stage.turn(interrupted(true, 0.7));
    expect(stage.run.totalCostUsd).toBe(0.7);
  });
});

test.each([
  ['another step', (stage: Stage) => stage.agent().steps + 1],
  ['an earlier step', (stage: Stage) => stage.agent().steps - 1],
])('the end of %s is ignored', (_, step) => {
  const stage = makeRun({ START: [] });
  stage.start();
  const outcome = failed('crashed');
  expect(
    stage.handle({ kind: 'step-ended', at: 0, agent: 'main', step: step(stage), outcome }),
  ).toEqual([]);
});
