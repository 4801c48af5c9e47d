import { describe, expect, test } from 'vitest';
import {
  bad,
  flow,
  joining,
  ok,
  reported,
  reports,
  settings,
  timeCame,
} from '../../test/joining-run.ts';
import { makeRun, type Stage, state, types } from '../../test/make-run.ts';

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
          'The join of main waits for 2 of its 3 child agents to succeed, but only 1 still can. Failed: main_w1, main_w2.',
      },
    });
    expect(reported(stage)).toBeUndefined();
  });

  test('a resume after that retries the children, and the join waits for them again', () => {
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

describe('the children of a join', () => {
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

  test('join their own children, and then their parent continues', () => {
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
