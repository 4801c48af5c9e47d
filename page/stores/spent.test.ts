import { expect, test } from 'vitest';
import type { AgentShape, WholeRun } from '../../src/look/run-shape.ts';
import { grownAgent, grownRun, spentByAgent } from './spent.ts';

const agent = (id: string, status: object): AgentShape =>
  ({ id, cost_usd: 1, status }) as unknown as AgentShape;

const agents = [
  agent('a', { kind: 'running', step: 2 }),
  agent('b', { kind: 'running', step: 5 }),
  agent('c', { kind: 'ended' }),
];
const doing = (name: string, step: number, spentUsd?: number) => ({
  ...{ agent: name, step },
  ...(spentUsd !== undefined && { spentUsd }),
});
const now: NonNullable<WholeRun['now']> = {
  ...{ at: 0, omitted: 0 },
  agents: [doing('a', 2, 0.25), doing('b', 4, 9), doing('c', 1, 9), doing('x', 1, 9)],
};

test('the cost grows with running steps, and not with steps that are over', () => {
  const spent = spentByAgent({ agents, now });
  expect([...spent]).toEqual([['a', 0.25]]);
  expect(grownAgent(agents[0] as AgentShape, spent)).toEqual({
    cost_usd: 1.25,
    cost_is_estimate: true,
  });
  expect(grownAgent(agents[1] as AgentShape, spent)).toMatchObject({ cost_usd: 1 });
  expect(grownRun({ cost_usd: 3, agents, now })).toEqual({
    cost_usd: 3.25,
    cost_is_estimate: true,
  });
  expect(grownRun({ cost_usd: 3 })).toEqual({ cost_usd: 3 });
});
