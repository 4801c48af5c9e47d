import type { Agent, AgentStatus, RunningStatus } from './run.ts';

/**
 * The number of agents in each status. It is updated with every event, so that no code has to count
 * agents.
 */
export interface Tally {
  readonly ready: number;
  readonly promptsRunning: number;
  readonly scriptsRunning: number;
  /** Those of `promptsRunning` that wait for a permission. */
  readonly asksPermission: number;
  /** Those of `promptsRunning` and `scriptsRunning` that wait in a queue for a worker. */
  readonly queued: number;
  readonly waiting: number;
  readonly asking: number;
  readonly joining: number;
  /** The parts of the budget that are reserved for running turns. */
  readonly reservedUsd: number;
  /** The number of asking and joining agents with a deadline. */
  readonly deadlines: number;
  readonly failed: number;
}

export const emptyTally: Tally = {
  ready: 0,
  promptsRunning: 0,
  scriptsRunning: 0,
  asksPermission: 0,
  queued: 0,
  reservedUsd: 0,
  waiting: 0,
  asking: 0,
  joining: 0,
  deadlines: 0,
  failed: 0,
};

export function tallyOf(agents: Iterable<Agent>): Tally {
  let tally = emptyTally;
  for (const agent of agents) tally = tallyWith(tally, undefined, agent.status);
  return tally;
}

/**
 * The tally after the status of one agent has changed. undefined means that the agent does not
 * exist.
 */
export function tallyWith(
  tally: Tally,
  before: AgentStatus | undefined,
  after: AgentStatus | undefined,
): Tally {
  const left = tallyKey(before);
  const joined = tallyKey(after);
  const deadlines = tally.deadlines - deadlinesOf(before) + deadlinesOf(after);
  const asksPermission = tally.asksPermission - permissionsOf(before) + permissionsOf(after);
  const queued = tally.queued - queuedOf(before) + queuedOf(after);
  const reservedUsd = roundUsd(tally.reservedUsd - reservedOf(before) + reservedOf(after));
  if (left === joined) {
    const isSame =
      deadlines === tally.deadlines &&
      asksPermission === tally.asksPermission &&
      queued === tally.queued &&
      reservedUsd === tally.reservedUsd;
    return isSame ? tally : { ...tally, deadlines, asksPermission, queued, reservedUsd };
  }
  // Named one by one: a spread would be the slowest part of folding an event.
  const next = {
    ready: tally.ready,
    promptsRunning: tally.promptsRunning,
    scriptsRunning: tally.scriptsRunning,
    asksPermission,
    queued,
    reservedUsd,
    waiting: tally.waiting,
    asking: tally.asking,
    joining: tally.joining,
    deadlines,
    failed: tally.failed,
  } satisfies Tally;
  if (left) next[left] -= 1;
  if (joined) next[joined] += 1;
  return next;
}

function deadlinesOf(status: AgentStatus | undefined): number {
  return status && deadlineOf(status) !== undefined ? 1 : 0;
}

function permissionsOf(status: AgentStatus | undefined): number {
  return status && asksPermission(status) ? 1 : 0;
}

function queuedOf(status: AgentStatus | undefined): number {
  return status?.kind === 'running' && status.isQueued ? 1 : 0;
}

function reservedOf(status: AgentStatus | undefined): number {
  return status?.kind === 'running' ? (status.reservedUsd ?? 0) : 0;
}

/** Ten times 0.10 must be 1.00. The rounding is finer than any real price. */
export const roundUsd = (usd: number) => Math.round(usd * 1e9) / 1e9;

/** Whether the running step waits for the decision of a person. */
export function asksPermission(status: AgentStatus): status is RunningStatus {
  return status.kind === 'running' && status.requests.length > 0;
}

/** The steps that run or wait in a queue. Those that wait for a person are not among them. */
export function atWork({ promptsRunning, scriptsRunning, asksPermission }: Tally): number {
  return promptsRunning + scriptsRunning - asksPermission;
}

/** Whether time counts as work: a step runs, and it waits neither for a person nor in a queue. */
export function isWorking(tally: Tally): boolean {
  return atWork(tally) > tally.queued;
}

/** The agents that wait for a person. */
export function waitsForPerson({ asking, asksPermission }: Tally): number {
  return asking + asksPermission;
}

/** When the agent stops waiting for an answer or for its children; undefined without a deadline. */
export function deadlineOf(status: AgentStatus): number | undefined {
  if (status.kind === 'asking') return status.deadline;
  return status.kind === 'joining' && !status.closed ? status.join.deadline : undefined;
}

function tallyKey(status: AgentStatus | undefined): keyof Tally | undefined {
  if (status === undefined || status.kind === 'deciding') return undefined;
  if (status.kind !== 'running') return status.kind;
  return status.session ? 'promptsRunning' : 'scriptsRunning';
}
