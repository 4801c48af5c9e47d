import { describe, expect, test } from 'vitest';
import { bad, flow, joining, ok, reported, settings } from '../../test/joining-run.ts';
import { failed, interrupted, makeRun, types } from '../../test/make-run.ts';

describe('a run with a joining agent', () => {
  test('holds no place for it and does not end', () => {
    const stage = joining('<join>MERGE</join>', { maxParallelPrompts: 1 });
    expect(stage.start('main_w1')).toHaveLength(1);
    expect(stage.idle()).toEqual([]);
    expect(stage.run.tally).toMatchObject({ joining: 1, promptsRunning: 1 });
  });

  test('waits for a person when a child has a question, and for the deadline if it may', () => {
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

  test('is paused by a usage limit of a child', () => {
    const stage = makeRun(flow, { settings: { ...settings, wait: false } });
    stage.turn('<fork>W</fork><join>MERGE</join>');
    stage.turn(failed('usage-limit', 0, { resetsAt: stage.now + 60_000 }), 'main_w1');
    expect(stage.idle()).toMatchObject([{ outcome: 'paused' }]);
    expect(stage.agent().status.kind).toBe('joining');
  });

  test('with --fail-fast ends at a failure, and a resume retries the child', () => {
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
