/**
 * Decides when joins are over, and what they report. A join depends only on how many of its children
 * still work and how many gave a result. So the order in which they end does not matter.
 */
import type { JoinEnd, RunEvent } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { Agent, JoiningStatus, Run } from '../model/run.ts';
import type { StateName } from '../model/state-name.ts';
import { apply } from './apply.ts';
import { childStatus } from './apply-join.ts';
import { failAgent } from './fail-agent.ts';
import { entryProblem, type Workflows } from './follow.ts';
import { resultArray } from './join-results.ts';
import { stopAgent } from './stop-agent.ts';

/**
 * The events of a decision, and those of every join that they end. A join that ends or fails may end
 * the join of its parent.
 */
export function withJoins(
  workflows: Workflows,
  run: Run,
  events: readonly RunEvent[],
): readonly RunEvent[] {
  if (!events.some(concernsJoins)) return events;
  const all: RunEvent[] = [];
  const touched: string[] = [];
  let after = run;
  const take = (more: readonly RunEvent[]) => {
    for (const event of more) {
      touched.push(...joinsTouchedBy(after, event));
      after = apply(after, event);
      all.push(event);
    }
  };
  take(events);
  const at = events[0]?.at ?? 0;
  // The list grows during this loop: each join is examined on the run after the one before it.
  for (const id of touched) {
    const agent = after.agents.get(id);
    if (isJoining(agent)) take(decideJoin({ workflows, run: after, agent, at }));
  }
  return all;
}

/** The events at the deadline of a join. */
export function joinTimedOut(
  workflows: Workflows,
  run: Run,
  agent: JoiningAgent,
  at: number,
): readonly RunEvent[] {
  return agent.status.closed ? [] : close({ workflows, run, agent, at }, 'timeout');
}

type JoiningAgent = Agent & { readonly status: JoiningStatus };

export function isJoining(agent: Agent | undefined): agent is JoiningAgent {
  return agent?.status.kind === 'joining';
}

interface Moment {
  readonly workflows: Workflows;
  readonly run: Run;
  readonly agent: JoiningAgent;
  readonly at: number;
}

const CONCERNED: ReadonlySet<RunEvent['type']> = new Set([
  'join-started',
  'join-closed',
  'agent-ended',
  'agent-failed',
  'agent-stopped',
  'run-resumed',
]);

function concernsJoins({ type }: RunEvent): boolean {
  return CONCERNED.has(type);
}

/** The agents whose join may be over after an event. */
function joinsTouchedBy(run: Run, event: RunEvent): readonly string[] {
  switch (event.type) {
    case 'join-started':
    case 'join-closed':
      return [event.agent];
    case 'agent-ended':
    case 'agent-failed':
      return parentOf(run, event.agent);
    case 'agent-stopped':
      return [event.by, ...parentOf(run, event.agent)];
    case 'run-resumed':
      return [...run.agents].flatMap(([id, { status }]) =>
        status.kind === 'joining' || (status.kind === 'failed' && status.join) ? [id] : [],
      );
    default:
      return [];
  }
}

function parentOf(run: Run, id: string): readonly string[] {
  const parent = run.agents.get(id)?.parent;
  return parent === undefined ? [] : [parent];
}

function decideJoin(moment: Moment): readonly RunEvent[] {
  const { status } = moment.agent;
  if (isFailingFast(moment.run)) return [];
  if (status.closed) return status.stopping > 0 ? [] : report(moment, status.closed);
  const why = endOf(status);
  return why ? close(moment, why) : [];
}

/** With --fail-fast the run ends at a failure, so that a resume retries the failed child. */
function isFailingFast({ status }: Run): boolean {
  return status.kind === 'stopping' && status.why === 'failure';
}

function endOf({ join: { of, workers }, open, successes }: JoiningStatus): JoinEnd | undefined {
  if (workers.length === 0) return 'reached';
  if (of === 'all') {
    if (open > 0) return undefined;
    return successes === workers.length ? 'reached' : 'failed';
  }
  const wanted = of === 'any' ? 1 : of;
  if (successes >= wanted) return 'reached';
  return successes + open < wanted ? 'failed' : undefined;
}

/** Stops the rest of the children if the tag says so, and reports when no step of them runs. */
function close(moment: Moment, why: JoinEnd): readonly RunEvent[] {
  const { agent, at } = moment;
  const { join } = agent.status;
  if (why === 'failed' && join.of !== 'all' && join.failedNext === undefined) {
    return failAgent(moment.run, agent.id, tooFew(moment), at);
  }
  if (!mustStopRest(agent.status, why)) return report(moment, why);
  return [{ type: 'join-closed', at, agent: agent.id, why }, ...stops(moment)];
}

/** Without `rest`, only a join that has enough results stops the others. */
function mustStopRest({ join: { rest }, open }: JoiningStatus, why: JoinEnd): boolean {
  if (open === 0) return false;
  return rest === undefined ? why === 'reached' : rest === 'stop';
}

function tooFew({ run, agent }: Moment): Failure {
  const { join, open, successes } = agent.status;
  const failed = join.workers.filter((id) => childStatus(run, id) === 'failed');
  const shown = failed.slice(0, MOST_SHOWN).join(', ');
  const more = failed.length > MOST_SHOWN ? ', …' : '';
  const which = failed.length > 0 ? ` Failed: ${shown}${more}.` : '';
  const wanted = join.of === 'any' ? 1 : join.of;
  return {
    kind: 'join-failed',
    message: `The join of ${agent.id} waits for ${wanted} of its ${join.workers.length} child agents to succeed, but only ${successes + open} still can.${which}`,
  };
}

const MOST_SHOWN = 5;

/** The stops of all children that still work, and of everything that they have forked. */
function stops({ run, agent, at }: Moment): readonly RunEvent[] {
  const rest = agent.status.join.workers.filter((id) => childStatus(run, id) === 'running');
  const roots = new Set(rest);
  const below = [...run.agents].flatMap(([id]) =>
    !roots.has(id) && isBelow(run, id, roots) ? [id] : [],
  );
  return [...rest, ...below].flatMap((id): readonly RunEvent[] => {
    const child = run.agents.get(id);
    if (!child) return [];
    const isRunning = child.status.kind === 'running';
    return [
      isRunning
        ? { type: 'agent-stop-requested', at, agent: id, by: agent.id }
        : stopAgent(run, child, agent.id, at),
    ];
  });
}

function isBelow(run: Run, id: string, roots: ReadonlySet<string>): boolean {
  let above: string | undefined = id;
  while (above !== undefined && !roots.has(above)) {
    above = (run.agents.get(above) ?? run.endedAgents.get(above))?.parent;
  }
  return above !== undefined;
}

function report({ workflows, run, agent, at }: Moment, why: JoinEnd): readonly RunEvent[] {
  const { join } = agent.status;
  const state = stateAfter(agent.status, why);
  const problem = entryProblem(workflows, agent, agent.workflow, state);
  if (problem) return failAgent(run, agent.id, problem, at);
  const workers = join.workers.map((id) => ({ agent: id, status: childStatus(run, id) }));
  const input = resultArray(run, workers);
  return [{ type: 'join-reported', at, agent: agent.id, why, state, workers, input }];
}

/** Where an agent continues after its join. */
export function stateAfter({ join }: Pick<JoiningStatus, 'join'>, why: JoinEnd): StateName {
  const { next, failedNext, timeoutNext } = join;
  if (why === 'timeout') return timeoutNext ?? next;
  return why === 'failed' ? (failedNext ?? next) : next;
}
