import { describe, expect, test } from 'vitest';
import { failed, interrupted, makeRun, type Stage, state, types } from '../../test/make-run.ts';
import type { RunEvent } from '../model/event.ts';

const flow = { START: [], W: [], 'S.sh': [], MERGE: [], LATE: [], REPAIR: [] };
const settings = { budgetUsd: 0, maxParallelPrompts: 99 };

/** A run whose first agent has forked three workers and joins them. */
function joining(join: string, options: Partial<typeof settings & { failFast: boolean }> = {}) {
  const stage = makeRun(flow, { settings: { ...settings, ...options } });
  stage.turn(`<fork item="a">W</fork><fork>W</fork><fork>W</fork>${join}`);
  return stage;
}

const reports = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === 'join-reported' ? [event] : []));

/** `reached MERGE.md: ended a, failed, running` of the only report to the first agent. */
function reported(stage: Stage): string | undefined {
  const own = reports(stage.events).filter(({ agent }) => agent === 'main');
  const [report, ...more] = own;
  if (!report) return undefined;
  expect(more).toEqual([]);
  const rows: readonly { status: string; result: string | null }[] = JSON.parse(report.input);
  const texts = rows.map(({ status, result }) => `${status}${result === null ? '' : ` ${result}`}`);
  return `${report.why} ${report.state}: ${texts.join(', ')}`;
}

function timeCame(stage: Stage, agent = 'main', later = 3_600_000): readonly RunEvent[] {
  return stage.handle({ kind: 'time-came', at: stage.now + later, agent });
}

const ok = (stage: Stage, n: number, result = `r${n}`) =>
  stage.turn(`<result>${result}</result>`, `main_w${n}`);
const bad = (stage: Stage, n: number) => stage.turn(failed('refused'), `main_w${n}`);

describe('when a join is over', () => {
  test.each<[string, string, (stage: Stage) => unknown, string | undefined]>([
    ['all: one still works', '<join>MERGE</join>', (s) => [ok(s, 1), ok(s, 3)], undefined],
    [
      'all: the order of the ends does not matter',
      '<join>MERGE</join>',
      (s) => [ok(s, 3), ok(s, 1), ok(s, 2)],
      'reached MERGE.md: ended r1, ended r2, ended r3',
    ],
    [
      'all: a failure counts as an end',
      '<join>MERGE</join>',
      (s) => [ok(s, 3), bad(s, 1), ok(s, 2)],
      'failed MERGE.md: failed, ended r2, ended r3',
    ],
    [
      'all: with failed_next',
      '<join failed_next="REPAIR">MERGE</join>',
      (s) => [ok(s, 3), bad(s, 1), ok(s, 2)],
      'failed REPAIR.md: failed, ended r2, ended r3',
    ],
    [
      'all: failed_next without a failure',
      '<join failed_next="REPAIR">MERGE</join>',
      (s) => [ok(s, 3), ok(s, 1), ok(s, 2)],
      'reached MERGE.md: ended r1, ended r2, ended r3',
    ],
    [
      'any: the first result, and the rest is stopped',
      '<join of="any">MERGE</join>',
      (s) => ok(s, 2),
      'reached MERGE.md: stopped, ended r2, stopped',
    ],
    [
      'any: a failure is no result',
      '<join of="any">MERGE</join>',
      (s) => [bad(s, 1), ok(s, 2)],
      'reached MERGE.md: failed, ended r2, stopped',
    ],
    [
      'a number: fewer results',
      '<join of="2">MERGE</join>',
      (s) => [ok(s, 2), bad(s, 1)],
      undefined,
    ],
    [
      'a number: reached',
      '<join of="2">MERGE</join>',
      (s) => [ok(s, 3), ok(s, 1)],
      'reached MERGE.md: ended r1, stopped, ended r3',
    ],
    [
      'a number: the rest continues',
      '<join of="2" rest="continue">MERGE</join>',
      (s) => [ok(s, 3), ok(s, 1)],
      'reached MERGE.md: ended r1, running, ended r3',
    ],
    [
      'a number that cannot be reached',
      '<join of="2" failed_next="REPAIR">MERGE</join>',
      (s) => [bad(s, 3), bad(s, 1)],
      'failed REPAIR.md: failed, running, failed',
    ],
    [
      'a number that cannot be reached, with rest="stop"',
      '<join of="2" failed_next="REPAIR" rest="stop">MERGE</join>',
      (s) => [bad(s, 3), bad(s, 1)],
      'failed REPAIR.md: failed, stopped, failed',
    ],
    [
      'more than there are',
      '<join of="4" failed_next="REPAIR">MERGE</join>',
      () => [],
      'failed REPAIR.md: running, running, running',
    ],
    [
      'at the deadline, with what exists',
      '<join timeout="1h" timeout_next="LATE">MERGE</join>',
      (s) => [ok(s, 2), bad(s, 3), timeCame(s)],
      'timeout LATE.md: running, ended r2, failed',
    ],
    [
      'at the deadline, with rest="stop"',
      '<join timeout="1h" timeout_next="LATE" rest="stop">MERGE</join>',
      (s) => [ok(s, 2), timeCame(s)],
      'timeout LATE.md: stopped, ended r2, stopped',
    ],
    [
      'before the deadline',
      '<join timeout="1h" timeout_next="LATE">MERGE</join>',
      (s) => [ok(s, 2), timeCame(s, 'main', 1000)],
      undefined,
    ],
    [
      'before the deadline, with everything',
      '<join timeout="1h" timeout_next="LATE">MERGE</join>',
      (s) => [ok(s, 2), ok(s, 1), ok(s, 3), timeCame(s)],
      'reached MERGE.md: ended r1, ended r2, ended r3',
    ],
  ])('%s', (_, join, happen, expected) => {
    const stage = joining(join);
    happen(stage);
    expect(reported(stage)).toBe(expected);
    expect(stage.agent().status.kind).toBe(expected === undefined ? 'joining' : 'ready');
  });

  test('too few successes without failed_next fail the agent', () => {
    const stage = joining('<join of="2">MERGE</join>');
    bad(stage, 1);
    expect(bad(stage, 2).at(-1)).toMatchObject({
      type: 'agent-failed',
      agent: 'main',
      failure: {
        kind: 'join-failed',
        message:
          'The join of main waits for 2 of its 3 workers to succeed, but only 1 still can. Failed: main_w1, main_w2.',
      },
    });
    expect(reported(stage)).toBeUndefined();
  });

  test('a resume after that retries the workers, and the join waits for them again', () => {
    const stage = joining('<join of="2">MERGE</join>');
    for (const n of [1, 2]) bad(stage, n);
    ok(stage, 3);
    expect(stage.idle()).toMatchObject([{ outcome: 'failed' }]);
    stage.resume();
    expect(stage.agent().status).toMatchObject({ kind: 'joining', open: 2, successes: 1 });
    ok(stage, 1);
    expect(reported(stage)).toBe('reached MERGE.md: ended r1, stopped, ended r3');
  });
});

describe('the workers of a join', () => {
  test('are those of the same answer', () => {
    const stage = makeRun(flow, { settings });
    stage.turn('<fork>W</fork><goto>START</goto>');
    stage.turn('<fork>W</fork><join>MERGE</join>');
    expect(ok(stage, 2).at(-1)).toMatchObject({ workers: [{ agent: 'main_w2' }] });
  });

  test('are all those that no join has reported, if the answer forks none', () => {
    const stage = makeRun(flow, { settings });
    stage.turn('<fork>W</fork><fork>W</fork><goto>START</goto>');
    stage.turn('<fork>W</fork><join>MERGE</join>');
    ok(stage, 3);
    ok(stage, 1, 'before the join');
    stage.turn('<join>MERGE</join>');
    expect(ok(stage, 2).at(-1)).toMatchObject({
      workers: [{ agent: 'main_w1' }, { agent: 'main_w2' }],
    });
    stage.turn('<join>MERGE</join>');
    expect(stage.events.at(-1)).toMatchObject({ type: 'join-reported', input: '[]' });
  });

  test('that run after a join are reported by the next one', () => {
    const stage = joining('<join of="any" rest="continue">MERGE</join>');
    ok(stage, 1);
    stage.turn('<join>MERGE</join>');
    bad(stage, 2);
    ok(stage, 3);
    expect(reports(stage.events).map(({ workers }) => workers)).toEqual([
      [
        { agent: 'main_w1', status: 'ended' },
        { agent: 'main_w2', status: 'running' },
        { agent: 'main_w3', status: 'running' },
      ],
      [
        { agent: 'main_w2', status: 'failed' },
        { agent: 'main_w3', status: 'ended' },
      ],
    ]);
  });

  test('are none: the agent continues immediately, whatever it waits for', () => {
    for (const of of ['all', 'any', '3']) {
      const stage = makeRun(flow, { settings });
      expect(types(stage.turn(`<join of="${of}">MERGE</join>`))).toEqual([
        'step-ended',
        'join-started',
        'join-reported',
      ]);
      expect(stage.agent()).toMatchObject({ state: 'MERGE.md', input: '[]', joined: [] });
    }
  });

  test('belong to the agent, in a called state too', () => {
    const stage = makeRun(flow, { settings });
    stage.turn('<fork>W</fork><goto>START</goto>');
    stage.turn('<call return="LATE">S</call>');
    stage.turn('<join>MERGE</join>');
    ok(stage, 1);
    expect(stage.agent()).toMatchObject({ state: 'MERGE.md', stack: [{ state: 'LATE.md' }] });
    stage.turn('<result>merged</result>');
    expect(stage.agent()).toMatchObject({ state: 'LATE.md', input: 'merged' });
  });

  test('join their own workers, and then their parent continues', () => {
    const stage = makeRun(flow, { settings });
    stage.turn('<fork>W</fork><join>MERGE</join>');
    stage.turn('<fork>W</fork><join>MERGE</join>', 'main_w1');
    stage.turn('<result>inner</result>', 'main_w1_w1');
    expect(stage.agent('main_w1').state).toBe('MERGE.md');
    stage.turn('<result>outer</result>', 'main_w1');
    expect(reports(stage.events).map(({ agent }) => agent)).toEqual(['main_w1', 'main']);
    expect(stage.agent().state).toBe('MERGE.md');
  });
});

describe('the value after a join', () => {
  test('is a JSON array in the order of the forks', () => {
    const stage = joining('<join timeout="1h" timeout_next="LATE">MERGE</join>');
    stage.turn('<goto>LATE</goto>', 'main_w2', 0.25);
    stage.turn('<result>x "y"</result>', 'main_w2', 0.5);
    bad(stage, 3);
    timeCame(stage);
    expect(JSON.parse(stage.agent().input ?? '')).toEqual([
      {
        agent: 'main_w1',
        state: 'W.md',
        status: 'running',
        result: null,
        failure: null,
        variables: { item: 'a' },
        cost_usd: 0,
      },
      {
        agent: 'main_w2',
        state: 'LATE.md',
        status: 'ended',
        result: 'x "y"',
        failure: null,
        variables: {},
        cost_usd: 0.75,
      },
      {
        agent: 'main_w3',
        state: 'W.md',
        status: 'failed',
        result: null,
        failure: { kind: 'refused', message: 'It is refused.' },
        variables: {},
        cost_usd: 0,
      },
    ]);
  });

  test('leaves long results out if they would be too large together', () => {
    const stage = joining('<join>MERGE</join>');
    ok(stage, 1, 'x'.repeat(8_000_000));
    ok(stage, 2, 'y'.repeat(8_000_000));
    ok(stage, 3, 'short');
    const rows: readonly { result: string | null }[] = JSON.parse(stage.agent().input ?? '');
    expect(rows.map(({ result }) => result?.length ?? null)).toEqual([8_000_000, 8_000_000, 5]);
    const large = joining('<join>MERGE</join>');
    for (const n of [1, 2]) ok(large, n, 'x'.repeat(8_388_608));
    ok(large, 3, 'short');
    const cut: readonly { result: string | null }[] = JSON.parse(large.agent().input ?? '');
    expect(cut.map(({ result }) => result?.length ?? null)).toEqual([null, null, 5]);
  });

  test('keeps the conversation and the stack of the agent', () => {
    const stage = joining('<join>MERGE</join>');
    for (const n of [1, 2, 3]) ok(stage, n);
    expect(stage.start()).toMatchObject([
      { state: 'MERGE.md', session: { use: 'continue', id: 's1' } },
    ]);
  });
});

describe('the rest of the workers', () => {
  test('is stopped in the middle of a step, and its cost counts', () => {
    const stage = joining('<join of="any">MERGE</join>');
    stage.start('main_w1');
    stage.start('main_w3');
    expect(types(ok(stage, 2))).toEqual([
      'step-ended',
      'agent-ended',
      'join-closed',
      'agent-stop-requested',
      'agent-stop-requested',
    ]);
    expect(stage.agent().status).toMatchObject({ kind: 'joining', closed: 'reached', stopping: 2 });
    expect(types(stage.end(interrupted(true, 0.5), 'main_w1'))).toEqual([
      'step-interrupted',
      'agent-stopped',
    ]);
    // Its late answer does not count.
    expect(types(stage.end('<result>too late</result>', 'main_w3', 0.25))).toEqual([
      'step-ended',
      'agent-stopped',
      'join-reported',
    ]);
    expect(reported(stage)).toBe('reached MERGE.md: stopped, ended r2, stopped');
    expect(stage.run.totalCostUsd).toBe(0.75);
    expect(stage.agent().workers).toEqual([]);
  });

  test.each([
    ['waits before a retry', (s: Stage) => s.turn(failed('crashed'), 'main_w1')],
    ['has a question', (s: Stage) => s.turn('<ask next="W">?</ask>', 'main_w1')],
    ['was reminded', (s: Stage) => s.start('main_w1') && s.end(interrupted(), 'main_w1')],
  ])('is stopped immediately when it %s', (_, happen) => {
    const stage = joining('<join of="any">MERGE</join>');
    happen(stage);
    ok(stage, 2);
    expect(reported(stage)).toBe('reached MERGE.md: stopped, ended r2, stopped');
    expect([...stage.run.agents].map(([id]) => id)).toEqual(['main']);
  });

  test('is stopped with everything that it has forked', () => {
    const stage = joining('<join of="any">MERGE</join>');
    stage.turn('<fork>W</fork><fork>W</fork><join>MERGE</join>', 'main_w1');
    bad2(stage, 'main_w1_w1');
    stage.turn('<fork>W</fork><goto>W</goto>', 'main_w1_w2');
    stage.turn('<result>done</result>', 'main_w1_w2');
    stage.start('main_w1_w2_w1');
    ok(stage, 2);
    expect(stage.agent().status).toMatchObject({ kind: 'joining', stopping: 1 });
    stage.end(interrupted(), 'main_w1_w2_w1');
    expect(reported(stage)).toBe('reached MERGE.md: stopped, ended r2, stopped');
    expect([...stage.run.agents].map(([id]) => id)).toEqual(['main']);
    stage.turn('<result>end</result>');
    expect(stage.idle()).toMatchObject([{ outcome: 'completed' }]);
  });

  test('is waited for by the outer join when an inner join was stopping it', () => {
    const stage = joining('<join of="any">MERGE</join>');
    stage.turn('<fork>W</fork><fork>W</fork><join of="any">MERGE</join>', 'main_w1');
    stage.start('main_w1_w2');
    stage.turn('<result>x</result>', 'main_w1_w1');
    ok(stage, 2);
    expect(stage.run.agents.has('main_w1')).toBe(false);
    expect(stage.agent('main_w1_w2').stoppedBy).toBe('main');
    stage.end(interrupted(), 'main_w1_w2');
    expect(reported(stage)).toBe('reached MERGE.md: stopped, ended r2, stopped');
  });

  test('is not retried by a resume while it is being stopped', () => {
    const stage = joining('<join of="any">MERGE</join>');
    bad(stage, 1);
    stage.start('main_w3');
    ok(stage, 2);
    stage.stop('now');
    stage.resume();
    expect(stage.agent('main_w1').status.kind).toBe('failed');
    stage.end(interrupted(), 'main_w3');
    expect(reported(stage)).toBe('reached MERGE.md: failed, ended r2, stopped');
  });
});

const bad2 = (stage: Stage, agent: string) => stage.turn(failed('refused'), agent);

describe('a reported failure is handled', () => {
  test('the run completes, and a resume retries nothing', () => {
    const stage = joining('<join>MERGE</join>');
    bad(stage, 1);
    for (const n of [2, 3]) ok(stage, n);
    expect(stage.run.tally.failed).toBe(0);
    expect(stage.run.endedAgents.get('main_w1')?.end).toMatchObject({ kind: 'failed' });
    stage.stop('drain');
    expect(stage.idle()).toMatchObject([{ outcome: 'interrupted' }]);
    stage.resume();
    expect(stage.run.agents.has('main_w1')).toBe(false);
    stage.turn('<result>done</result>');
    expect(stage.idle()).toMatchObject([{ outcome: 'completed' }]);
  });

  test('a failure after the report is not, until another join reports it', () => {
    const stage = joining('<join timeout="1h" timeout_next="LATE">MERGE</join>');
    for (const n of [1, 2]) ok(stage, n);
    timeCame(stage);
    bad(stage, 3);
    const unhandled = { ...stage, run: stage.run };
    stage.turn('<join>MERGE</join>');
    stage.turn('<result>done</result>');
    expect(stage.idle()).toMatchObject([{ outcome: 'completed' }]);
    expect(unhandled.run.tally.failed).toBe(1);
  });

  test('a failure that no join reports makes the run fail', () => {
    const stage = joining('<join of="any" rest="continue">MERGE</join>');
    ok(stage, 1);
    bad(stage, 2);
    ok(stage, 3);
    stage.turn('<result>done</result>');
    expect(stage.idle()).toMatchObject([{ outcome: 'failed' }]);
  });
});

describe('a run with a joining agent', () => {
  test('holds no place for it and does not end', () => {
    const stage = joining('<join>MERGE</join>', { maxParallelPrompts: 1 });
    expect(stage.start('main_w1')).toHaveLength(1);
    expect(stage.idle()).toEqual([]);
    expect(stage.run.tally).toMatchObject({ joining: 1, promptsRunning: 1 });
  });

  test('waits for a person when a worker has a question, and for the deadline if it may', () => {
    const stage = joining('<join timeout="1h" timeout_next="LATE">MERGE</join>');
    for (const n of [1, 2]) ok(stage, n);
    stage.turn('<ask next="W">?</ask>', 'main_w3');
    expect(stage.idle({ patient: true })).toEqual([]);
    expect(stage.idle({ patient: false })).toMatchObject([{ outcome: 'waiting' }]);
    stage.resume({}, 'blue');
    stage.turn('<result>blue</result>', 'main_w3');
    expect(reported(stage)).toBe('reached MERGE.md: ended r1, ended r2, ended blue');
  });

  test('is interrupted by a stop, and a resume continues the join', () => {
    const stage = joining('<join>MERGE</join>');
    stage.start('main_w1');
    stage.stop('now');
    stage.end(interrupted(), 'main_w1');
    expect(stage.idle()).toMatchObject([{ outcome: 'interrupted' }]);
    stage.resume();
    for (const n of [1, 2, 3]) ok(stage, n);
    expect(reported(stage)).toBe('reached MERGE.md: ended r1, ended r2, ended r3');
  });

  test.each([
    ['stopped: budget', { budgetUsd: 1 }, { budgetUsd: 9 }],
    ['stopped: iterations', { maxIterations: 2 }, { maxIterations: 9 }],
  ] as const)('ends as %s, and a resume continues the join', (outcome, limit, more) => {
    const stage = makeRun(flow, { settings: { ...settings, ...limit } });
    stage.turn('<fork>W</fork><fork>W</fork><join>MERGE</join>', 'main', 0.5);
    stage.turn('<result>r1</result>', 'main_w1', 0.5);
    expect(stage.start('main_w2')).toMatchObject([{ type: 'stop-requested' }]);
    expect(stage.idle()).toMatchObject([{ outcome }]);
    stage.resume(more);
    stage.turn('<result>r2</result>', 'main_w2');
    expect(reported(stage)).toBe('reached MERGE.md: ended r1, ended r2');
  });

  test('is paused by a usage limit of a worker', () => {
    const stage = makeRun(flow, { settings: { ...settings, wait: false } });
    stage.turn('<fork>W</fork><join>MERGE</join>');
    stage.turn(failed('usage-limit', 0, { resetsAt: stage.now + 60_000 }), 'main_w1');
    expect(stage.idle()).toMatchObject([{ outcome: 'paused' }]);
    expect(stage.agent().status.kind).toBe('joining');
  });

  test('with --fail-fast ends at a failure, and a resume retries the worker', () => {
    const stage = joining('<join>MERGE</join>', { failFast: true });
    for (const n of [1, 2]) ok(stage, n);
    expect(types(bad(stage, 3))).toEqual(['step-failed', 'agent-failed', 'stop-requested']);
    expect(stage.idle()).toMatchObject([{ outcome: 'failed' }]);
    stage.resume();
    expect(stage.agent('main_w3').status.kind).toBe('ready');
    ok(stage, 3);
    expect(reported(stage)).toBe('reached MERGE.md: ended r1, ended r2, ended r3');
  });

  test('evaluates a join that ended while --fail-fast stopped the run', () => {
    const stage = joining('<join of="any">MERGE</join>', { failFast: true });
    stage.start('main_w2');
    bad(stage, 1);
    stage.end('<result>r2</result>', 'main_w2');
    expect(stage.idle()).toMatchObject([{ outcome: 'failed' }]);
    expect(reported(stage)).toBeUndefined();
    stage.resume({ failFast: false });
    expect(reported(stage)).toBe('reached MERGE.md: stopped, ended r2, stopped');
  });
});

describe('the target of a join', () => {
  test.each(['MERGE', 'failed_next', 'timeout_next'])('%s must exist', (part) => {
    const text =
      part === 'MERGE'
        ? '<join>NOWHERE</join>'
        : `<join ${part}="NOWHERE" ${part === 'timeout_next' ? 'timeout="1h"' : ''}>MERGE</join>`;
    const stage = makeRun(flow, { settings });
    expect(stage.turn(`<fork>W</fork>${text}`).at(-1)).toMatchObject({
      type: 'agent-failed',
      failure: { kind: 'missing-state' },
    });
    expect(stage.run.agents.size).toBe(1);
  });

  test('counts visits, and a limit fails the agent', () => {
    const stage = makeRun({ ...flow, MERGE: state('max_visits: 1') }, { settings });
    stage.turn('<join>MERGE</join>');
    stage.turn('<join>MERGE</join>');
    expect(stage.events.at(-1)).toMatchObject({
      type: 'agent-failed',
      failure: { kind: 'too-many-visits' },
    });
  });
});

describe('a join by policy', () => {
  test('is taken without a tag if it is the only entry', () => {
    const start = state('allowed_transitions: [{ tag: join, target: MERGE }]');
    const stage = makeRun({ ...flow, START: start }, { settings });
    stage.turn('I have nothing to add.');
    expect(stage.agent().state).toBe('MERGE.md');
  });

  test('can be the transition of an evaluator', () => {
    const start = state(
      'evaluators: [{ matches: enough, then: { tag: join, target: MERGE, of: any } }]',
    );
    const stage = makeRun({ ...flow, START: start }, { settings });
    stage.turn('enough <goto>W</goto>');
    expect(stage.agent().state).toBe('MERGE.md');
  });
});
