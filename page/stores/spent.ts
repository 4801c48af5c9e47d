/** The cost of steps that still run, as their process has published it. It is an estimate. */
import type { AgentShape, WholeRun } from '../../src/look/run-shape.ts';

type Cost = Pick<WholeRun, 'cost_usd' | 'cost_is_estimate'>;

/** What the running step of each agent has cost so far. */
export function spentByAgent({ agents, now }: Pick<WholeRun, 'agents' | 'now'>) {
  const steps = new Map(
    agents.flatMap(({ id, status }) => (status.kind === 'running' ? [[id, status.step]] : [])),
  );
  return new Map(
    (now?.agents ?? []).flatMap(({ agent, step, spentUsd = 0 }) =>
      spentUsd > 0 && steps.get(agent) === step ? [[agent, spentUsd]] : [],
    ),
  );
}

/** A cost with what a running step adds to it. */
export function grown(cost: Cost, spentUsd: number): Cost {
  if (spentUsd === 0) return cost;
  return { cost_usd: cost.cost_usd + spentUsd, cost_is_estimate: true };
}

/** The cost of a run with all its running steps. A row of the list has no agents. */
export function grownRun(run: Cost & Partial<Pick<WholeRun, 'agents' | 'now'>>): Cost {
  if (!run.agents) return run;
  const spent = spentByAgent({ agents: run.agents, now: run.now ?? null });
  return grown(
    run,
    [...spent.values()].reduce((sum, usd) => sum + usd, 0),
  );
}

export const grownAgent = (agent: AgentShape, spent: ReadonlyMap<string, number>): Cost =>
  grown(agent, spent.get(agent.id) ?? 0);
