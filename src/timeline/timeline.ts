/** The timeline of a run: a row for each agent, with what it did and when. */

import type { RunHistory } from '../history/run-history.ts';
import type { Span } from '../history/span.ts';
import type { Run } from '../model/run.ts';
import { asksPermission } from '../model/tally.ts';
import { type Axis, axisOf } from './axis.ts';

export interface Timeline {
  readonly run: string;
  readonly axis: Axis;
  /** In the order of creation. */
  readonly rows: readonly TimelineRow[];
}

export interface TimelineRow {
  readonly agent: string;
  readonly parent: string | undefined;
  readonly variables: Readonly<Record<string, string>>;
  readonly bornAt: number;
  readonly workedMs: number;
  readonly status: RowStatus;
  /** When the agent was over, or failed; absent if it can continue. */
  readonly endAt: number | undefined;
  readonly spans: readonly Span[];
}

type RowStatus = 'ended' | 'failed' | 'stopped' | 'rewound' | 'asking' | 'live';

/** `over` are those that are over. The others last until now. */
export function timelineOf(
  run: Run,
  history: RunHistory,
  over: readonly Span[],
  now: number,
): Timeline {
  const { agents, open } = history.until(now);
  const spans = [...over, ...open];
  const byAgent = new Map<string, Span[]>();
  for (const one of spans) {
    const span: Span = history.isAbandoned(one) ? { ...one, isAbandoned: true } : one;
    const known = byAgent.get(span.agent);
    if (known) known.push(span);
    else byAgent.set(span.agent, [span]);
  }
  const rows = [...agents.values()].map(
    ({ id: agent, parent, variables, bornAt, workedMs }): TimelineRow => {
      const own = byAgent.get(agent) ?? [];
      const status = statusOf(run, agent);
      const isOver = status !== 'live' && status !== 'asking';
      // A join retires a failed child later than it failed.
      const endAt = isOver ? (own.at(-1)?.to ?? bornAt) : undefined;
      return { agent, parent, variables, bornAt, workedMs, status, endAt, spans: own };
    },
  );
  return { run: run.id, axis: axisOf(run.startedAt, spans), rows };
}

function statusOf(run: Run, id: string): RowStatus {
  const ended = run.endedAgents.get(id);
  if (ended) return ended.end.kind;
  const status = run.agents.get(id)?.status;
  if (status && asksPermission(status)) return 'asking';
  const kind = status?.kind;
  return kind === 'failed' || kind === 'asking' ? kind : 'live';
}
