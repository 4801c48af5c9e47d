/** Folds a rewind into a run: agents go back, and the money that they spent stays spent. */
import type { AgentState, EndedAgentState } from '../model/agent-state.ts';
import type { Beginning, RunEventOf } from '../model/event.ts';
import { PersistentMap } from '../model/persistent-map.ts';
import type { Agent, AgentStatus, EndedAgent, Run } from '../model/run.ts';
import { tallyWith } from '../model/tally.ts';
import type { AgentWorktree } from '../model/worktree.ts';
import { joining, recounted } from './apply-join.ts';
import { failures, put, retire } from './change-agent.ts';

export function rewound(run: Run, event: RunEventOf<'run-rewound'>): Run {
  let next: Run = {
    ...run,
    status: { kind: 'ended', outcome: event.outcome },
    result: event.result,
    restoring: event.files,
    ...(event.notes && { notes: PersistentMap.from(Object.entries(event.notes)) }),
  };
  for (const id of event.gone) next = withGone(next, id, event.at);
  return withAgents(next, event, event.at);
}

/** A variant begins as another run was at a moment. Nothing is spent yet. */
export function begun(run: Run, beginning: Beginning, at: number): Run {
  const { forkCounters, result, notes } = beginning;
  const counters = PersistentMap.from(Object.entries(forkCounters));
  const known = notes && { notes: PersistentMap.from(Object.entries(notes)) };
  return withAgents({ ...run, forkCounters: counters, result, ...known }, beginning, at);
}

function withAgents(run: Run, { agents, ended }: Pick<Beginning, 'agents' | 'ended'>, at: number) {
  let next = run;
  for (const one of ended) next = withEnded(next, one);
  for (const agent of agents) next = withAgent(next, agent, at);
  return recounted(next);
}

/** Its name is never used again, and its worktree stays. */
function withGone(run: Run, id: string, at: number): Run {
  const live = run.agents.get(id);
  if (live) return retire(run, live, at, { kind: 'rewound' });
  const ended = run.endedAgents.get(id);
  if (!ended) return run;
  return {
    ...run,
    endedAgents: run.endedAgents.set(id, { ...ended, end: { kind: 'rewound' } }),
    failedEnds: run.failedEnds - failures(ended),
  };
}

function withEnded(run: Run, { id, ...state }: EndedAgentState): Run {
  const used = spent(run, id);
  const { parent, worktree, ...others } = state;
  const ended: EndedAgent = {
    ...others,
    parent,
    worktree: worktree && { ...seen(worktree), fate: worktree.fate },
    ...used,
  };
  const bare = without(run, id);
  const removals = bare.removals + (ended.worktree?.fate === 'removing' ? 1 : 0);
  const failedEnds = bare.failedEnds + failures(ended);
  return { ...bare, removals, failedEnds, endedAgents: bare.endedAgents.set(id, ended) };
}

function withAgent(run: Run, state: AgentState, at: number): Run {
  const { parent, worktree, withheld = [], input, filled, ...more } = state;
  const { entered, previousTry, joined, answerFiles, words = [], ...others } = more;
  const bare = without(run, state.id);
  const agent: Agent = {
    ...others,
    parent,
    worktree: worktree && seen(worktree),
    withheld,
    input,
    filled,
    entered,
    previousTry,
    joined,
    answerFiles,
    words,
    ...spent(run, state.id),
    stoppedBy: undefined,
    status: statusOf(bare, state.status, at),
  };
  return put(bare, undefined, agent);
}

/** Questions and joins begin again. */
function statusOf(run: Run, status: AgentState['status'], at: number): AgentStatus {
  switch (status.kind) {
    case 'asking': {
      const { kind, question, next, deadline, timeoutNext, approval, ...more } = status;
      const { files, accept } = more;
      const again = { kind, question, askedAt: at, next, deadline, timeoutNext };
      return {
        ...again,
        ...(approval && { approval }),
        ...(files && { files }),
        ...(accept && { accept }),
      };
    }
    case 'joining':
      return joining(run, status.join, at);
    case 'failed':
      return { ...status, join: status.join };
    default:
      return status;
  }
}

function seen({ branch, tree, look, wasSeen }: NonNullable<AgentState['worktree']>): AgentWorktree {
  return { branch, ...(tree && { tree }), look, wasSeen };
}

function spent(
  { agents, endedAgents }: Run,
  id: string,
): Pick<Agent, 'steps' | 'costUsd' | 'isPriced'> {
  const known = agents.get(id) ?? endedAgents.get(id);
  const { steps = 0, costUsd = 0, isPriced = false } = known ?? {};
  return { steps, costUsd, isPriced };
}

function without(run: Run, id: string): Run {
  const { agents, endedAgents, tally, removals, failedEnds } = run;
  const ended = endedAgents.get(id);
  const isRemoving = ended?.worktree?.fate === 'removing';
  return {
    ...run,
    agents: agents.delete(id),
    endedAgents: endedAgents.delete(id),
    tally: tallyWith(tally, agents.get(id)?.status, undefined),
    removals: removals - (isRemoving ? 1 : 0),
    failedEnds: failedEnds - failures(ended),
  };
}
