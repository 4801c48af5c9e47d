import { describe, expect, test } from 'vitest';
import type { Stage } from '../../test/make-run.ts';
import { failed, interrupted, makeRun, state, types } from '../../test/make-run.ts';

const flow = { START: [], N: [], T: [] };
const TIMED = '<ask next="N" timeout="1h" timeout_next="T">Which?</ask>';
const PLAIN = '<ask next="N">Which?</ask>';

function asked(question = PLAIN): Stage {
  const stage = makeRun(flow, { settings: { budgetUsd: 0 } });
  stage.turn(question);
  return stage;
}

const askedAt = (stage: Stage, id?: string) => {
  const { status } = stage.agent(id);
  return status.kind === 'asking' ? status.askedAt : 0;
};

const answer = (stage: Stage, text: string, at = askedAt(stage), agent = 'main') =>
  stage.handle({ kind: 'person-answered', at: stage.now, agent, askedAt: at, text });

const timeCame = (stage: Stage, later: number) =>
  stage.handle({ kind: 'time-came', at: stage.now + later, agent: 'main' });

function answerTwice(stage: Stage) {
  const at = askedAt(stage);
  answer(stage, 'a', at);
  return answer(stage, 'b', at);
}

describe('questions', () => {
  test('an answer becomes the value of next, in the same session', () => {
    const stage = asked(TIMED);
    expect(types(answer(stage, 'blue'))).toEqual(['agent-answered']);
    expect(stage.agent()).toMatchObject({ state: 'N.md', input: 'blue', session: { id: 's1' } });
  });

  test('an answer ends the model and effort of a function', () => {
    const stage = makeRun(flow);
    stage.turn('<function return="N" model="haiku" effort="low">T</function>');
    stage.turn(PLAIN);
    answer(stage, 'blue');
    expect(stage.agent()).toMatchObject({ choices: {} });
  });

  test('after the deadline the agent continues at timeout_next, without a value', () => {
    const stage = asked(TIMED);
    expect(timeCame(stage, 0)).toEqual([]);
    expect(types(timeCame(stage, 3_600_000))).toEqual(['question-timed-out']);
    expect(stage.agent()).toMatchObject({ state: 'T.md', input: undefined });
  });

  test.each([
    ['a second answer', answerTwice],
    ['an answer to an earlier question', (stage: Stage) => answer(stage, 'a', askedAt(stage) - 1)],
    [
      'an answer to an unknown agent',
      (stage: Stage) => answer(stage, 'a', askedAt(stage), 'nobody'),
    ],
    ['a time for a question without a deadline', (stage: Stage) => timeCame(stage, 10 ** 12)],
  ])('%s is ignored', (_, late) => expect(late(asked())).toEqual([]));

  test('an answer after the timeout and a timeout after the answer are ignored', () => {
    const late = asked(TIMED);
    const at = askedAt(late);
    timeCame(late, 3_600_000);
    expect(answer(late, 'blue', at)).toEqual([]);
    const early = asked(TIMED);
    answer(early, 'blue');
    expect(timeCame(early, 3_600_000)).toEqual([]);
  });
});

describe('a run without running steps', () => {
  test.each([
    ['continues while an agent is ready', (stage: Stage) => stage.resume(), undefined],
    ['continues while a step runs', (stage: Stage) => stage.start(), undefined],
    [
      'continues while an agent waits for a retry',
      (stage: Stage) => stage.turn(failed('crashed')),
      undefined,
    ],
    [
      'is completed when every agent has ended',
      (stage: Stage) => stage.turn('<result>x</result>'),
      'completed',
    ],
    [
      'has failed when all remaining agents have failed',
      (stage: Stage) => stage.turn(failed('no-credit')),
      'failed',
    ],
    ['waits for a person', (stage: Stage) => stage.turn(PLAIN), 'waiting'],
    ['continues while a question has a deadline', (stage: Stage) => stage.turn(TIMED), undefined],
    [
      'waits for a person when the deadline has passed',
      (stage: Stage) => {
        stage.turn(TIMED);
        timeCame(stage, 3_600_000);
        stage.turn(PLAIN);
      },
      'waiting',
    ],
  ])('%s', (_, happen, outcome) => {
    const stage = makeRun(flow);
    happen(stage);
    expect(stage.idle()).toMatchObject(outcome ? [{ type: 'run-ended', outcome }] : []);
  });

  test('continues when a user may answer', () => {
    const stage = asked();
    expect(stage.idle({ attended: true })).toEqual([]);
    expect(stage.idle({ attended: false })).toMatchObject([{ outcome: 'waiting' }]);
  });

  test.each([
    ['a process that has other runs to resume', {}, { patient: false }],
    ['--no-wait', { wait: false }, {}],
  ])('%s does not wait for a deadline', (_, settings, who) => {
    const stage = makeRun(flow, { settings: { budgetUsd: 0, ...settings } });
    stage.turn(TIMED);
    expect(stage.idle({ ...who, attended: true })).toEqual([]);
    expect(stage.idle(who)).toMatchObject([{ outcome: 'waiting' }]);
  });

  test('the run waits for a deadline even with a question without one and a failed agent', () => {
    const stage = makeRun(flow, { settings: { budgetUsd: 0 } });
    stage.turn('<fork>N</fork><fork next="T">N</fork>');
    stage.turn(failed('no-credit'), 'main_n1');
    stage.turn(PLAIN, 'main_n2');
    stage.turn(TIMED);
    expect(stage.idle()).toEqual([]);
    answer(stage, 'blue');
    stage.turn('<result>x</result>');
    expect(stage.idle()).toMatchObject([{ outcome: 'waiting' }]);
  });

  test('a failed agent does not stop the others, and the run fails at the end', () => {
    const stage = makeRun(flow, { settings: { budgetUsd: 0 } });
    stage.turn('<fork next="N">T</fork>');
    stage.turn(failed('no-credit'));
    expect(stage.idle()).toEqual([]);
    stage.turn('<result>x</result>', 'main_t1');
    expect(stage.idle()).toMatchObject([{ outcome: 'failed' }]);
  });

  test('ends only once', () => {
    const stage = makeRun(flow);
    stage.turn('<result>x</result>');
    stage.idle();
    expect(stage.idle()).toEqual([]);
  });
});

describe('stop', () => {
  test('drain lets the running step finish and starts no other', () => {
    const stage = makeRun(flow);
    stage.start();
    expect(stage.stop('drain')).toMatchObject([
      { type: 'stop-requested', how: 'drain', why: 'person' },
    ]);
    expect(stage.idle()).toEqual([]);
    stage.end('<goto>N</goto>');
    expect(stage.start()).toEqual([]);
    expect(stage.idle()).toMatchObject([{ outcome: 'interrupted' }]);
    expect(stage.agent()).toMatchObject({ state: 'N.md', status: { kind: 'ready' } });
  });

  test.each([
    ['drain', 'now', ['stop-requested']],
    ['drain', 'drain', []],
    ['now', 'drain', []],
    ['now', 'now', []],
  ] as const)('%s and then %s', (first, second, expected) => {
    const stage = makeRun(flow);
    stage.start();
    stage.stop(first);
    expect(types(stage.stop(second))).toEqual(expected);
  });

  test('a person who stops a run in a shutdown has stopped it', () => {
    const stage = makeRun(flow);
    stage.start();
    stage.stop('now', 'shutdown');
    expect(stage.stop('drain')).toMatchObject([{ how: 'now', why: 'person' }]);
    expect(stage.stop('now', 'shutdown')).toEqual([]);
    stage.end(interrupted());
    expect(stage.idle()).toMatchObject([{ outcome: 'interrupted' }]);
  });

  test.each([undefined, 'shutdown'] as const)('the outcome of a stop for %s', (why) => {
    const stage = makeRun(flow);
    stage.start();
    stage.stop('drain');
    stage.stop('now', why);
    expect(stage.run.status).toMatchObject({ how: 'now', why: 'person' });
  });

  test('a more urgent stop keeps its reason', () => {
    const stage = makeRun(flow, { settings: { budgetUsd: 1 } });
    stage.turn('<fork next="N">T</fork>', 'main', 0.1);
    stage.start();
    stage.run = { ...stage.run, totalCostUsd: 1 };
    stage.start('main_t1');
    stage.stop('now');
    expect(stage.run.status).toEqual({ kind: 'stopping', how: 'now', why: 'budget' });
  });

  test.each([
    ['all agents have ended', '<result>x</result>', 'completed'],
    ['all remaining agents have failed', failed('no-credit'), 'failed'],
    ['a step was interrupted', interrupted(), 'interrupted'],
    ['a question is open', PLAIN, 'interrupted'],
  ])('the outcome when %s', (_, end, outcome) => {
    const stage = makeRun(flow);
    stage.start();
    stage.stop('now');
    stage.end(end);
    expect(stage.idle()).toMatchObject([{ outcome }]);
  });
});

describe('resume', () => {
  test('retries the failed agents, and does not change the others', () => {
    const stage = makeRun(flow, { input: 'v', settings: { budgetUsd: 0 } });
    stage.turn('<fork next="N" input="v">T</fork>');
    stage.turn(failed('no-credit'));
    stage.turn(PLAIN, 'main_t1');
    stage.idle();
    stage.resume({ budgetUsd: 20 });
    expect(stage.run.settings.budgetUsd).toBe(20);
    expect(stage.agent().status).toEqual({ kind: 'ready', task: { kind: 'state' } });
    expect(stage.agent('main_t1').status.kind).toBe('asking');
    expect(stage.start()).toMatchObject([{ attempt: 2, session: { use: 'continue', id: 's1' } }]);
  });

  test('a value answers the only open question', () => {
    const stage = asked();
    stage.idle();
    expect(types(stage.resume({}, 'blue'))).toEqual(['run-resumed', 'agent-answered']);
    expect(stage.agent()).toMatchObject({ state: 'N.md', input: 'blue' });
  });

  test.each([
    ['replaces the value of the failed agents', 'new', 'new'],
    ['that is not given keeps their value', undefined, 'old'],
  ])('a value %s', (_, input, expected) => {
    const stage = makeRun(flow, { input: 'old' });
    stage.turn(failed('no-credit'));
    stage.idle();
    stage.resume({}, input);
    expect(stage.agent().input).toBe(expected);
  });

  test('a fresh resume begins the state of a failed agent in a new session', () => {
    const stage = makeRun(flow, { input: 'old' });
    stage.turn('<goto>N</goto>');
    stage.turn('<call return="T">N</call>');
    stage.turn(failed('session-gone'));
    stage.idle();
    expect(stage.agent().stack).toMatchObject([{ session: { kind: 'open', id: 's1' } }]);
    expect(stage.resume({}, undefined, { fresh: true })).toMatchObject([{ fresh: true }]);
    expect(stage.agent().stack).toMatchObject([{ state: 'T.md', session: { kind: 'none' } }]);
    expect(stage.start()).toMatchObject([
      { task: 'state', attempt: 1, session: { use: 'fresh' }, state: 'N.md' },
    ]);
  });

  test.each([
    ['a reminder', ['What?']],
    ['a continuation', [interrupted()]],
  ])('a fresh resume begins the state again instead of %s', (_, before) => {
    const stage = makeRun({ START: state('allowed_transitions: [{ tag: result }]') });
    for (const outcome of before) stage.turn(outcome);
    stage.turn(failed('session-gone'));
    stage.idle();
    stage.resume({}, undefined, { fresh: true });
    expect(stage.agent().status).toEqual({ kind: 'ready', task: { kind: 'state' } });
    expect(stage.start()).toMatchObject([{ task: 'state', session: { use: 'fresh' } }]);
  });

  test('with two open questions a value answers neither', () => {
    const stage = makeRun(flow, { settings: { budgetUsd: 0 } });
    stage.turn('<fork next="N">T</fork>');
    stage.turn(PLAIN);
    stage.turn(PLAIN, 'main_t1');
    stage.idle();
    expect(types(stage.resume({}, 'blue'))).toEqual(['run-resumed']);
    expect(stage.run.tally.asking).toBe(2);
  });

  test('with --no-wait under a usage limit it pauses again; without, it waits', () => {
    const stage = makeRun(flow, { settings: { wait: false } });
    stage.turn(failed('usage-limit'));
    stage.idle();
    stage.resume();
    expect(stage.start()).toEqual([]);
    expect(stage.idle()).toMatchObject([{ outcome: 'paused' }]);
    stage.resume({ wait: true });
    expect(stage.idle()).toEqual([]);
  });

  test('with a larger budget it continues where it stopped', () => {
    const stage = makeRun(flow, { settings: { budgetUsd: 1 } });
    stage.turn('<goto>N</goto>', 'main', 1.2);
    stage.start();
    stage.idle();
    expect(stage.run.status).toEqual({ kind: 'ended', outcome: 'stopped: budget' });
    stage.resume({ budgetUsd: 2 });
    expect(stage.start()).toMatchObject([
      { state: 'N.md', session: { use: 'continue', id: 's1' } },
    ]);
  });
});

describe('usage limit', () => {
  test.each([
    [59_999, []],
    [60_000, ['usage-limit-lifted']],
  ])('is over only at its end: after %i ms', (later, expected) => {
    const stage = makeRun(flow);
    const at = stage.now + 1000;
    stage.turn(failed('usage-limit', 0, { resetsAt: at }));
    expect(types(stage.handle({ kind: 'usage-limit-over', at: at + later }))).toEqual(expected);
  });

  test('that was never reached cannot be over', () => {
    expect(makeRun(flow).handle({ kind: 'usage-limit-over', at: 10 ** 9 })).toEqual([]);
  });
});
