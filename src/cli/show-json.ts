/** The JSON of `raymond show`: the state file, and what only the history and the owner know. */

import { freeze } from '../journal/freeze-run.ts';
import { isDoing } from '../model/now.ts';
import { pidOf } from '../model/pid-of.ts';
import { statusOf } from './runs.ts';
import type { ShownRun } from './show-run.ts';

export function shownAsJson({ found, history, doings, log, left }: ShownRun) {
  const { run, isOwn: own, doubt, owner } = found;
  const { agents, ended_agents, ...rest } = freeze(run);
  const order = new Map([...history.agents.keys()].map((id, index) => [id, index]));
  const inOrder = <T extends { readonly id: string }>(all: readonly T[]) =>
    all
      .toSorted((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0))
      .map((one) => ({ ...one, worked_ms: history.agents.get(one.id)?.workedMs ?? 0 }));
  return {
    ...rest,
    agents: inOrder(agents).map((one) => {
      const agent = run.agents.get(one.id);
      const doing = doings.get(one.id);
      return agent && isDoing(agent, doing) ? { ...one, doing } : one;
    }),
    ended_agents: inOrder(ended_agents),
    states: history.states.map(({ workflow, state, visits, steps, failures, ...use }) => ({
      ...{ workflow, state, visits, steps, failures },
      worked_ms: use.workedMs,
      cost_usd: use.costUsd,
      ...(use.isPriced && { cost_is_estimate: true }),
    })),
    condition: statusOf(found),
    own,
    ...(doubt && { doubt: doubt.why }),
    pid: pidOf(owner),
    log: log ?? null,
    forecast: left ?? null,
  };
}
