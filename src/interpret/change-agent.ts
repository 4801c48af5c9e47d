/** Changes of one agent in a run, and of the counts that depend on it. */
import { changedAgent, changedRun } from '../model/changed.ts';
import type { Session, Task } from '../model/event.ts';
import type { Agent, AgentEnd, AgentStatus, EndedAgent, Run } from '../model/run.ts';
import type { StateName } from '../model/state-name.ts';
import { tallyWith } from '../model/tally.ts';
import { visitKey } from './new-run.ts';

/** An agent that the run does not know changes nothing. */
export function change(run: Run, id: string, next: (agent: Agent) => Agent): Run {
  const agent = run.agents.get(id);
  return agent ? put(run, agent, next(agent)) : run;
}

export function setStatus(run: Run, id: string, next: (status: AgentStatus) => AgentStatus): Run {
  return change(run, id, (agent) => changedAgent(agent, { status: next(agent.status) }));
}

export function put(run: Run, before: Agent | undefined, after: Agent, more?: Partial<Run>): Run {
  const agents = run.agents.set(after.id, after);
  const tally = tallyWith(run.tally, before?.status, after.status);
  return changedRun(run, { agents, tally }, more);
}

/** Moves an agent to those that are over. The worktree of a failed agent is kept. */
export function retire(
  run: Run,
  agent: Agent,
  at: number,
  end: AgentEnd,
  fate: 'kept' | 'removing' = 'kept',
): Run {
  const { parent, workflow, state, variables, steps, costUsd, isPriced } = agent;
  const worktree = agent.worktree && { ...agent.worktree, fate };
  const used = { steps, costUsd, isPriced };
  const unheard = agent.words.filter(({ given }) => !given);
  const kept: EndedAgent = {
    ...{ at, parent, workflow, state, variables, end, ...used, worktree },
    ...(unheard.length > 0 && { words: unheard }),
  };
  return {
    ...run,
    removals: run.removals + (worktree?.fate === 'removing' ? 1 : 0),
    agents: run.agents.delete(agent.id),
    endedAgents: run.endedAgents.set(agent.id, kept),
    failedEnds: run.failedEnds + failures(kept),
    tally: tallyWith(run.tally, agent.status, undefined),
  };
}

/** What an agent that is over adds to the failed ones. */
export const failures = (ended: Pick<EndedAgent, 'end'> | undefined) =>
  ended?.end.kind === 'failed' ? 1 : 0;

/** `more` contains further changes. */
export function enter(
  agent: Agent,
  state: StateName,
  input: string | undefined,
  more: Partial<Agent> = {},
): Agent {
  const key = visitKey(more.workflow ?? agent.workflow, state);
  const visits = { ...agent.visits, [key]: (agent.visits[key] ?? 0) + 1 };
  const gone = {
    filled: undefined,
    entered: undefined,
    joined: undefined,
    answerFiles: undefined,
  };
  const there = { state, input, visits, retries: 0, ...gone };
  return begin(agent, { kind: 'state' }, Object.assign(there, more));
}

/** Gives an agent a task that has not been tried yet. */
export function begin(agent: Agent, task: Task, more?: Partial<Agent>): Agent {
  const untried = { attempts: 0, previousTry: undefined, status: ready(task) };
  return changedAgent(agent, untried, more);
}

export function ready(task: Task): AgentStatus {
  return { kind: 'ready', task };
}

export function taskOf(status: AgentStatus): Task {
  return status.kind === 'asking' || status.kind === 'joining' ? { kind: 'state' } : status.task;
}

/** To whom a session belongs. */
export interface Owner {
  readonly executor?: string | undefined;
  readonly lane?: string | undefined;
}

export function ownerOf(from: Session | Owner): Owner {
  const { executor, lane }: Owner = 'kind' in from && from.kind === 'none' ? {} : from;
  return { ...(executor !== undefined && { executor }), ...(lane !== undefined && { lane }) };
}
