import type { Words } from './agent-state.ts';
import type { Approval, Signed } from './approval.ts';
import type {
  Cell,
  Frame,
  Join,
  JoinEnd,
  LaneReason,
  Origin,
  Restoration,
  RunOutcome,
  Session,
  SessionUse,
  Settings,
  StepLane,
  StopReason,
  Task,
} from './event.ts';
import type { Failure } from './failure.ts';
import type { KeptFile } from './kept-file.ts';
import type { Limits } from './limits.ts';
import type { Lesson, Note, NotesAccess } from './notes.ts';
import type { PermissionDecision, PermissionRequest } from './permission.ts';
import type { PersistentMap } from './persistent-map.ts';
import type { StepRights } from './rights.ts';
import type { StateName } from './state-name.ts';
import type { Tally } from './tally.ts';
import type { StartedBy } from './trigger.ts';
import type { WorkflowFiles } from './workflow-files.ts';
import type { AgentWorktree, EndedWorktree } from './worktree.ts';

/** One execution of a workflow: the fold of its events. It is immutable. */
export interface Run {
  readonly id: string;
  /** The number of its events, and so the sequence number of the newest one. */
  readonly seq: number;
  /** Ref of the workflow that was started. */
  readonly workflow: string;
  readonly cwd: string;
  readonly settings: Settings;
  readonly metadata: Readonly<Record<string, string>>;
  /** What the run was started with. A run of an older version may have forgotten it. */
  readonly input: string | undefined;
  /** Undefined if a person started the run. */
  readonly startedBy: StartedBy | undefined;
  /** Undefined if it is no variant of another run. */
  readonly origin: Origin | undefined;
  /** Undefined if no eval has begun it. */
  readonly cell: Cell | undefined;
  readonly startedAt: number;
  readonly updatedAt: number;
  /**
   * The time in which at least one step ran while a process was working on the run. Waits for people,
   * limits and retries do not count, nor does the time between a crash and the resume.
   */
  readonly workedMs: number;
  readonly status: RunStatus;
  /** Agents that have not ended. Failed agents are among them, because a resume retries them. */
  readonly agents: PersistentMap<Agent>;
  /** Every agent that is over, with its result. Its name is never used again. */
  readonly endedAgents: PersistentMap<EndedAgent>;
  /** Those of `endedAgents` that failed. A join has reported each of them. */
  readonly failedEnds: number;
  readonly forkCounters: PersistentMap<number>;
  /** The files from which each workflow of the run was read, by ref. */
  readonly workflowFiles: PersistentMap<WorkflowFiles>;
  readonly tally: Tally;
  /** The number of worktrees that are being removed. The run does not end before they are gone. */
  readonly removals: number;
  /** All executions, also reminders, retries, checks, judges, and steps that a rewind abandoned. */
  readonly steps: number;
  /** The steps that began a state. `--max-iterations` limits them. */
  readonly iterations: number;
  readonly totalCostUsd: number;
  /** Part of the cost was computed from a price table, so the cost is an estimate. */
  readonly isPriced: boolean;
  /** The cost of the most expensive turn so far; undefined before the first turn has ended. */
  readonly dearestTurnUsd: number | undefined;
  /** The highest known cost of a turn of each state; see `visitKey`. */
  readonly turnCosts: PersistentMap<number>;
  readonly limits: Limits;
  /** The lanes, or agents, that take no new sessions while another lane is available, by name. */
  readonly closed: Readonly<Record<string, ClosedLane>>;
  /** The first agent's result. */
  readonly result: string | undefined;
  /** The ids of all words of people, with the number of their event, so that no message counts twice. */
  readonly said: PersistentMap<number>;
  /** What its agents have noted, by path. */
  readonly notes: PersistentMap<Note>;
  /** What people have kept of earlier runs of its workflow, as it was at the start. */
  readonly lessons: readonly Lesson[];
  /** The files that a rewind has not restored yet. No step starts before that. */
  readonly restoring: readonly Restoration[];
}

export interface ClosedLane {
  readonly why: LaneReason;
  readonly until: number;
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
  readonly worktree: AgentWorktree | undefined;
  readonly stack: readonly Frame[];
  readonly variables: Readonly<Record<string, string>>;
  /** The variables that are not in the environment of its scripts. */
  readonly withheld: readonly string[];
  /** The value that the current state receives and consumes. */
  readonly input: string | undefined;
  /** The placeholders of the current state that a model has filled. */
  readonly filled: Readonly<Record<string, string>> | undefined;
  /** The choices of the transition that led here, for this state only. */
  readonly choices: Readonly<Record<string, string>>;
  /** The number of entries into each state; see `visitKey`. */
  readonly visits: Readonly<Record<string, number>>;
  /** The digests of its newest entries into the states that compare them; see `visitKey`. */
  readonly entries: Readonly<Record<string, readonly string[]>>;
  /** The digest of its entry into the current state, once it is known. */
  readonly entered: string | undefined;
  /** The number of started steps, and so the number of the newest one. */
  readonly steps: number;
  /** The number of attempts at the current task, including the running or newest one. */
  readonly attempts: number;
  /** The number of consecutive failures that led to a retry. */
  readonly retries: number;
  /** The earlier step that attempted the current task without success: the next step repeats it. */
  readonly previousTry: number | undefined;
  readonly costUsd: number;
  /** As for the run. */
  readonly isPriced: boolean;
  /** Its children whose end no join has reported, in the order of their forks. The key is older than the word. */
  readonly workers: readonly string[];
  /** The children whose results the current state receives from a join. */
  readonly joined: readonly string[] | undefined;
  /** The files that came with the answer which the current state receives. */
  readonly answerFiles: readonly KeptFile[] | undefined;
  /** The words of people that it does not have for certain, the oldest first. */
  readonly words: readonly Words[];
  /** The agent whose join stops the running step. */
  readonly stoppedBy: string | undefined;
  readonly status: AgentStatus;
}

export type AgentStatus =
  | { readonly kind: 'ready'; readonly task: Task }
  | RunningStatus
  /**
   * Between the end of a step and its consequences: only inside one decision, never in a stored
   * run.
   */
  | { readonly kind: 'deciding'; readonly task: Task; readonly failure: Failure | undefined }
  | {
      readonly kind: 'waiting';
      readonly task: Task;
      readonly until: number;
      readonly failure: Failure;
    }
  | AskingStatus
  | JoiningStatus
  | {
      readonly kind: 'failed';
      readonly task: Task;
      readonly failure: Failure;
      /** The join that failed. After a resume the agent waits again. */
      readonly join: Join | undefined;
    };

export interface RunningStatus {
  readonly kind: 'running';
  readonly task: Task;
  readonly step: number;
  /** The state whose text is executed: the agent's own state, or the judge's. */
  readonly state: StateName;
  /** Without the time in a queue, once a worker has taken it. */
  readonly startedAt: number;
  /** It waits in a queue until a worker takes it. */
  readonly isQueued: boolean;
  /** Absent for scripts. */
  readonly session: SessionUse | undefined;
  /** The part of the remaining budget that is reserved for it. */
  readonly reservedUsd: number | undefined;
  /** The executor that took the step, if the journal has it. */
  readonly executor: string | undefined;
  /** Absent if the state has only one lane. */
  readonly lane?: StepLane | undefined;
  readonly worker: string | undefined;
  /** The rights with which it began; absent if it is not confined. */
  readonly rights?: StepRights | undefined;
  /** Present if it has got the notes: their sha256 by path at its start. */
  readonly notes?: GivenNotes | undefined;
  /** Its requests that wait for a person, the oldest first. */
  readonly requests: readonly OpenRequest[];
  /**
   * The newest decisions about its requests. A process that adopts the step gives them again, because
   * the process that recorded one may have died before it gave it to the agent.
   */
  readonly decided: readonly DecidedRequest[];
}

export interface GivenNotes {
  readonly may: NotesAccess;
  readonly seen: Readonly<Record<string, string>>;
}

export interface OpenRequest extends PermissionRequest {
  readonly askedAt: number;
}

interface DecidedRequest extends PermissionDecision {
  readonly request: string;
}

export interface AskingStatus {
  readonly kind: 'asking';
  readonly question: string;
  readonly askedAt: number;
  readonly next: StateName;
  readonly deadline: number | undefined;
  readonly timeoutNext: StateName | undefined;
  /** Only signatures answer it. */
  readonly approval?: Approval | undefined;
  /** The answers that were signed so far. */
  readonly signed?: readonly Signed[] | undefined;
  /** Shown with the question. */
  readonly files?: readonly KeptFile[] | undefined;
  /** The endings of the files that an answer may bring; absent if all may come. */
  readonly accept?: readonly string[] | undefined;
}

export interface JoiningStatus {
  readonly kind: 'joining';
  readonly join: Join;
  readonly since: number;
  /** The number of its children that are still working. */
  readonly open: number;
  /** The number of its children that gave a result. */
  readonly successes: number;
  /** Why the wait is over, while the remaining children are being stopped. */
  readonly closed: JoinEnd | undefined;
  /** The number of steps that are being stopped. */
  readonly stopping: number;
}

/** An agent that has stopped working and that no resume retries. */
export interface EndedAgent {
  readonly at: number;
  readonly parent: string | undefined;
  /** The workflow in which it worked last. */
  readonly workflow: string;
  readonly state: StateName;
  readonly variables: Readonly<Record<string, string>>;
  readonly end: AgentEnd;
  readonly steps: number;
  readonly costUsd: number;
  /** As for the run. */
  readonly isPriced: boolean;
  readonly worktree: EndedWorktree | undefined;
  /** What people said to it and it never heard; absent if there is nothing. */
  readonly words?: readonly Words[] | undefined;
}

export type AgentEnd =
  | {
      readonly kind: 'ended';
      readonly result: string;
      /** It fits a schema, so it is JSON. */
      readonly checked?: true | undefined;
    }
  /** A join has reported the failure. */
  | { readonly kind: 'failed'; readonly failure: Failure }
  /** A join has stopped it. */
  | { readonly kind: 'stopped' }
  /** It was forked after the moment to which the run was rewound. */
  | { readonly kind: 'rewound' };
