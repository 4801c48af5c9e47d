import type { Agent, AgentStatus } from './run.ts';

/** How many agents are in each status; kept up with every event, so that nothing has to count. */
export interface Tally {
  readonly ready: number;
  readonly promptsRunning: number;
  readonly scriptsRunning: number;
  readonly waiting: number;
  readonly asking: number;
  readonly failed: number;
}

export const emptyTally: Tally = {
  ready: 0,
  promptsRunning: 0,
  scriptsRunning: 0,
  waiting: 0,
  asking: 0,
  failed: 0,
};

export function tallyOf(agents: Iterable<Agent>): Tally {
  let tally = emptyTally;
  for (const agent of agents) tally = tallyWith(tally, undefined, agent.status);
  return tally;
}

/** The tally after one agent went from a status to another; undefined is an agent that is not there. */
export function tallyWith(
  tally: Tally,
  before: AgentStatus | undefined,
  after: AgentStatus | undefined,
): Tally {
  const left = tallyKey(before);
  const joined = tallyKey(after);
  if (left === joined) return tally;
  return {
    ...tally,
    ...(left && { [left]: tally[left] - 1 }),
    ...(joined && { [joined]: tally[joined] + 1 }),
  };
}

function tallyKey(status: AgentStatus | undefined): keyof Tally | undefined {
  if (status === undefined || status.kind === 'deciding') return undefined;
  if (status.kind !== 'running') return status.kind;
  return status.session ? 'promptsRunning' : 'scriptsRunning';
}
