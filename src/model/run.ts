import type {
  Frame,
  RunOutcome,
  Session,
  SessionUse,
  Settings,
  StopReason,
  Task,
} from './event.ts';
import type { Failure } from './failure.ts';
import type { PersistentMap } from './persistent-map.ts';
import type { StateName } from './state-name.ts';
import type { Tally } from './tally.ts';
import type { WorkflowFiles } from './workflow-files.ts';

/** One execution of a workflow: the fold of its events, never changed in place. */
export interface Run {
  readonly id: string;
  /** How many events it has seen, so also the sequence number of the newest one. */
  readonly seq: number;
  /** Ref of the workflow that was started. */
  readonly workflow: string;
  readonly cwd: string;
  readonly settings: Settings;
  readonly metadata: Readonly<Record<string, string>>;
  readonly startedAt: number;
  readonly updatedAt: number;
  readonly status: RunStatus;
  /** Agents that have not ended; failed ones are among them, since a resume tries them again. */
  readonly agents: PersistentMap<Agent>;
  /** Every agent that ended, with its result: its name is never given again. */
  readonly endedAgents: PersistentMap<EndedAgent>;
  readonly forkCounters: PersistentMap<number>;
  /** The files from which each workflow of the run was read, by ref. */
  readonly workflowFiles: PersistentMap<WorkflowFiles>;
  readonly tally: Tally;
  readonly iterations: number;
  readonly totalCostUsd: number;
  /** The dearest turn so far: what a turn is expected to cost when parallel ones are admitted. */
  readonly dearestTurnUsd: number | undefined;
  readonly limitedUntil: number | undefined;
  /** The first agent's result. */
  readonly result: string | undefined;
}

export type RunStatus =
  | { readonly kind: 'active' }
  | { readonly kind: 'stopping'; readonly how: 'drain' | 'now'; readonly why: StopReason }
  | { readonly kind: 'ended'; readonly outcome: RunOutcome };

/** A thread of execution in a run. */
export interface Agent {
  readonly id: string;
  /** The agent that forked it; undefined for the first one. */
  readonly parent: string | undefined;
  readonly workflow: string;
  readonly state: StateName;
  readonly session: Session;
  readonly cwd: string;
  readonly stack: readonly Frame[];
  readonly variables: Readonly<Record<string, string>>;
  /** The value that the current state receives, and consumes. */
  readonly input: string | undefined;
  /** Made by the transition that led here, for this state only. */
  readonly choices: Readonly<Record<string, string>>;
  /** How often each state was entered; see `visitKey`. */
  readonly visits: Readonly<Record<string, number>>;
  /** Steps started so far, so also the number of the newest one. */
  readonly steps: number;
  /** How often the current task was tried, the running or newest try included. */
  readonly attempts: number;
  /** Failures in a row that were answered with another try. */
  readonly retries: number;
  /** The step that tried the current task before and came to nothing: the next one repeats it. */
  readonly previousTry: number | undefined;
  readonly costUsd: number;
  readonly status: AgentStatus;
}

export type AgentStatus =
  | { readonly kind: 'ready'; readonly task: Task }
  | RunningStatus
  /** Between a step's end and what follows from it: only inside one decision, never at rest. */
  | { readonly kind: 'deciding'; readonly task: Task; readonly failure: Failure | undefined }
  | {
      readonly kind: 'waiting';
      readonly task: Task;
      readonly until: number;
      readonly failure: Failure;
    }
  | AskingStatus
  | { readonly kind: 'failed'; readonly task: Task; readonly failure: Failure };

export interface RunningStatus {
  readonly kind: 'running';
  readonly task: Task;
  readonly step: number;
  /** The state whose text is executed: the agent's own, or its judge's. */
  readonly state: StateName;
  readonly startedAt: number;
  /** Absent for scripts. */
  readonly session: SessionUse | undefined;
  /** Who took the step, as far as the journal says. */
  readonly executor: string | undefined;
  readonly worker: string | undefined;
}

export interface AskingStatus {
  readonly kind: 'asking';
  readonly question: string;
  readonly askedAt: number;
  readonly next: StateName;
  readonly deadline: number | undefined;
  readonly timeoutNext: StateName | undefined;
}

export interface EndedAgent {
  readonly at: number;
  readonly parent: string | undefined;
  /** Where it gave its result. */
  readonly workflow: string;
  readonly state: StateName;
  readonly result: string;
  readonly steps: number;
  readonly costUsd: number;
}
