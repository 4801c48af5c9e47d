/** A run as an orchestrating agent needs it: short, because every word of it costs tokens. */
import { conditionOf, type StoredFacts } from '../model/condition.ts';
import { DECISIONS, isOffered } from '../model/permission.ts';
import type { Agent, EndedAgent, Run } from '../model/run.ts';
import { unreachable } from '../model/unreachable.ts';
import { conditionText } from '../observe/words.ts';
import type { RunControl, StoredRun } from '../ports.ts';

export async function compactRun(found: StoredRun, control: RunControl) {
  const { run } = found;
  const questions = await control.questions(run);
  const requests = await control.requests(run);
  const live = [...run.agents].map(([id, agent]) => ({ id, ...liveAgent(agent) }));
  const ended = [...run.endedAgents].map(([id, agent]) => ({ id, ...endedAgent(agent) }));
  // Agents that need something come first, and ended ones last.
  const agents = [...live.sort((a, b) => RANK[a.status] - RANK[b.status]), ...ended];
  return {
    ...standing(found),
    result: run.result === undefined ? null : bounded(run.result, LONGEST_RESULT),
    questions: questions.map(({ agent, question, deadline, isAnswered }) => ({
      agent,
      question: bounded(question, LONGEST_TEXT),
      deadline: deadline === undefined ? null : new Date(deadline).toISOString(),
      answered: isAnswered,
    })),
    permission_requests: requests.map((open) => ({
      agent: open.agent,
      request: open.request,
      tool: open.tool,
      call: bounded(open.input, LONGEST_TEXT),
      decisions: DECISIONS.filter((decision) => isOffered(open, decision)),
      decided: open.isAnswered,
    })),
    agents: agents.slice(0, MOST_AGENTS),
    agents_omitted: Math.max(0, agents.length - MOST_AGENTS),
  };
}

/** The facts that distinguish a run from others. */
export function standing(found: StoredRun<Standing>) {
  const { id, run, isOwn, owner } = found;
  return {
    run: id,
    status: conditionText(conditionOf(found), Date.now()),
    workflow: run.workflow,
    own: isOwn,
    working: owner !== undefined,
    position: run.seq,
    steps: run.iterations,
    cost_usd: run.totalCostUsd,
    ...estimateIf(run),
    worked_ms: run.workedMs,
    failed: run.tally.failed,
    asking: run.tally.asking,
    asking_permission: run.tally.asksPermission,
  };
}

type Standing = StoredFacts['run'] &
  Pick<Run, 'workflow' | 'seq' | 'iterations' | 'totalCostUsd' | 'isPriced' | 'workedMs'>;

const estimateIf = ({ isPriced }: Pick<Run, 'isPriced'>) =>
  isPriced ? { cost_is_estimate: true } : {};

const RANK: Readonly<Record<Agent['status']['kind'], number>> = {
  asking: 0,
  failed: 1,
  waiting: 2,
  running: 3,
  joining: 4,
  deciding: 5,
  ready: 6,
};

function liveAgent({ state, status, costUsd, isPriced }: Agent) {
  const failure = 'failure' in status ? status.failure : undefined;
  return {
    state,
    status: status.kind,
    cost_usd: costUsd,
    ...estimateIf({ isPriced }),
    ...(failure && { failure: bounded(failure.message, LONGEST_TEXT) }),
  };
}

function endedAgent({ state, end, costUsd, isPriced }: EndedAgent) {
  const at = { state, status: end.kind, cost_usd: costUsd, ...estimateIf({ isPriced }) };
  switch (end.kind) {
    case 'ended':
      return { ...at, result: bounded(end.result, LONGEST_TEXT) };
    case 'failed':
      return { ...at, failure: bounded(end.failure.message, LONGEST_TEXT) };
    case 'stopped':
    case 'rewound':
      return at;
    default:
      return unreachable(end);
  }
}

const [MOST_AGENTS, LONGEST_TEXT, LONGEST_RESULT] = [50, 1_000, 20_000];

function bounded(text: string, longest: number): string {
  const omitted = text.length - longest;
  return omitted > 0 ? `${text.slice(0, longest)} [${omitted} more characters]` : text;
}
