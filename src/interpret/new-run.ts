/** The initial values of a run and an agent. */
import { NO_LIMITS } from '../model/limits.ts';
import { PersistentMap } from '../model/persistent-map.ts';
import type { Agent, Run } from '../model/run.ts';
import type { StateName } from '../model/state-name.ts';
import { emptyTally } from '../model/tally.ts';

/** Every run before its first event. */
export const newRun: Run = {
  id: '',
  seq: 0,
  workflow: '',
  cwd: '',
  settings: {
    budgetUsd: 10,
    maxIterations: 0,
    agent: {},
    idleTimeoutMs: 600_000,
    maxParallelPrompts: 16,
    maxParallelScripts: 256,
    failFast: false,
    wait: true,
    warm: true,
  },
  metadata: {},
  input: undefined,
  startedBy: undefined,
  origin: undefined,
  cell: undefined,
  startedAt: 0,
  updatedAt: 0,
  workedMs: 0,
  status: { kind: 'active' },
  agents: PersistentMap.empty(),
  endedAgents: PersistentMap.empty(),
  failedEnds: 0,
  forkCounters: PersistentMap.empty(),
  workflowFiles: PersistentMap.empty(),
  tally: emptyTally,
  removals: 0,
  steps: 0,
  iterations: 0,
  totalCostUsd: 0,
  isPriced: false,
  dearestTurnUsd: undefined,
  turnCosts: PersistentMap.empty(),
  limits: NO_LIMITS,
  closed: {},
  result: undefined,
  said: PersistentMap.empty(),
  notes: PersistentMap.empty(),
  lessons: [],
  restoring: [],
};

/** The first agent of every run. */
export const FIRST_AGENT = 'main';

export function newAgent(
  id: string,
  parent: string | undefined,
  place: { workflow: string; state: StateName; cwd: string; input?: string | undefined },
  variables: Readonly<Record<string, string>>,
  withheld: readonly string[] = [],
): Agent {
  return {
    id,
    parent,
    workflow: place.workflow,
    state: place.state,
    session: { kind: 'none' },
    cwd: place.cwd,
    worktree: undefined,
    stack: [],
    variables,
    withheld,
    input: place.input,
    filled: undefined,
    choices: {},
    visits: { [visitKey(place.workflow, place.state)]: 1 },
    entries: {},
    entered: undefined,
    steps: 0,
    attempts: 0,
    retries: 0,
    previousTry: undefined,
    costUsd: 0,
    isPriced: false,
    workers: [],
    joined: undefined,
    answerFiles: undefined,
    words: [],
    stoppedBy: undefined,
    status: { kind: 'ready', task: { kind: 'state' } },
  };
}

/** Names a state in `visits`: two workflows may have states of the same name. */
export function visitKey(workflow: string, state: StateName | string): string {
  return `${workflow}#${state}`;
}
