// The children that a join does not wait for, and those that have failed.
import { describe, expect, test } from 'vitest';
import { bad, joining, ok, reported, timeCame } from '../../test/joining-run.ts';
import { failed, interrupted, type Stage, types } from '../../test/make-run.ts';

describe('the rest of the children', () => {
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
