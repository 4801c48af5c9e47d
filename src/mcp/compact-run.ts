/** A run as an orchestrating agent needs it: short, because every word of it costs tokens. */

import type { RunControl } from '../app/for-programs.ts';
import { type AgentForm, agentForm, rowForm, storedRowForm, waitingOf } from '../look/run-form.ts';
import type { AgentStatusShape } from '../look/run-shape.ts';
import { bounded } from '../model/bounded-text.ts';
import { summaryOf } from '../model/run-summary.ts';
import type { SurveyedRun } from '../ports.ts';

/** The facts that distinguish a run from others. */
export const compactRow = (found: SurveyedRun) => shortened(rowForm(found), LONGEST_TEXT);

export function compactRun({
  found,
  warnings,
  ...waiting
}: Awaited<ReturnType<RunControl['look']>>) {
  const { run } = found;
  const { agents: counts, ...row } = storedRowForm({ ...found, run: summaryOf(run) });
  const asked = waitingOf(waiting);
  const agents = [...run.agents, ...run.endedAgents]
    .flatMap(([id]) => agentForm(run, id, asked.get(id), LONGEST_TEXT) ?? [])
    .sort((a, b) => rank(a.status) - rank(b.status))
    .map(({ id, state, cost_usd, cost_is_estimate, status }: AgentForm) => ({
      ...{ id, state, cost_usd },
      ...(cost_is_estimate && { cost_is_estimate }),
      status,
    }));
  return {
    ...row,
    counts,
    result: run.result === undefined ? null : bounded(run.result, LONGEST_RESULT),
    agents: shortened(agents.slice(0, MOST_AGENTS), LONGEST_TEXT),
    agents_omitted: Math.max(0, agents.length - MOST_AGENTS),
    ...(warnings.length > 0 && { warnings }),
  };
}

/** Agents that need something come first, and ended ones last. */
function rank(status: AgentStatusShape): number {
  return status.kind === 'running' && status.requests.length > 0 ? 0 : RANK[status.kind];
}

const RANK: Readonly<Record<AgentStatusShape['kind'], number>> = {
  asking: 0,
  failed: 1,
  waiting: 2,
  running: 3,
  joining: 4,
  ready: 5,
  ended: 6,
  stopped: 6,
};

const [MOST_AGENTS, LONGEST_TEXT, LONGEST_RESULT] = [50, 1_000, 20_000];

/** The same JSON, with the beginnings of long texts. */
function shortened(value: unknown, longest: number): unknown {
  return JSON.parse(JSON.stringify(value), (_, part) => {
    const omitted = typeof part === 'string' ? part.length - longest : 0;
    return omitted > 0 ? `${part.slice(0, longest)} [${omitted} more characters]` : part;
  });
}
