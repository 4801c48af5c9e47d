import { describe, expect, test } from 'vitest';
import { bad, joining, ok, timeCame } from '../../test/joining-run.ts';

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
