import { expect, test } from 'vitest';
import type { StoredRow } from '../../src/look/run-shape.ts';
import { counting, daysOf, workflowSums } from './overview.ts';

const NOW = new Date(2026, 10, 18, 12).getTime();
const run = (daysAgo: number, cost_usd: number, more: object = {}) =>
  ({
    ...{ id: `r${daysAgo}`, workflow: 'w', status: 'completed', rehearsal: false, cost_usd },
    ...{ worked_ms: 1_000, agents: { failed: 0 } },
    started_at: new Date(NOW - daysAgo * 86_400_000).toISOString(),
    ...more,
  }) as StoredRow;

test('each of the last days has its runs, failures and cost', () => {
  const runs = [run(0, 1), run(0, 2, { status: 'failed' }), run(2, 4), run(9, 8)];
  const days = daysOf(runs, 3, NOW);
  expect(days.map(({ runs, failed, costUsd }) => [runs, failed, costUsd])).toEqual([
    [1, 0, 4],
    [0, 0, 0],
    [2, 1, 3],
  ]);
  expect(counting([run(0, 1), run(0, 1, { rehearsal: true })])).toHaveLength(1);
});

test('the newest run is compared with the runs before it, if there are three', () => {
  const runs = [run(1, 6), run(2, 2), run(3, 3), run(4, 4)];
  expect(workflowSums(runs)).toMatchObject([
    { workflow: 'w', runs: 4, completed: 4, costUsd: 15, newest: { id: 'r1', cost: 2, time: 1 } },
  ]);
  expect(workflowSums(runs.slice(1))[0]?.newest).toBeUndefined();
});
