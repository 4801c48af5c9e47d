import type { Signature } from './approval.ts';
import type { Settings } from './event.ts';
import type { Failure } from './failure.ts';
import type { KeptFile } from './kept-file.ts';
import type { PermissionDecision, PermissionRequest } from './permission.ts';
import type { StateName } from './state-name.ts';
import type { Account, AnswerRef } from './step-account.ts';
import type { TagReading } from './tag.ts';
import type { WorktreeLook } from './worktree.ts';

/**
 * Everything that can happen to a run. An input includes the time, the ids and the facts about the file
 * system, so that interpreting it needs nothing else.
 */
export type Input =
  | StartStep
  | StepTaken
  | StateEntered
  | FilesRecorded
  | StepEnded
  | {
      readonly kind: 'person-answered';
      readonly at: number;
      readonly agent: string;
      readonly askedAt: number;
      readonly text: string;
      readonly by?: string | undefined;
      readonly signatures?: readonly Signature[] | undefined;
      readonly files?: readonly KeptFile[] | undefined;
    }
  | {
      readonly kind: 'permission-requested';
      readonly at: number;
      readonly agent: string;
      readonly step: number;
      readonly request: PermissionRequest;
    }
  /** The agent no longer wants a decision. */
  | {
      readonly kind: 'permission-withdrawn';
      readonly at: number;
      readonly agent: string;
      readonly step: number;
      readonly request: string;
    }
  | PermissionDecided
  | {
      readonly kind: 'person-said';
      readonly at: number;
      readonly agent: string;
      readonly words: string;
      readonly text: string;
      readonly by?: string | undefined;
    }
  /** The model has got words during a turn. */
  | {
      readonly kind: 'words-heard';
      readonly at: number;
      readonly agent: string;
      readonly step: number;
      readonly words: string;
    }
  /** A wait is over: the pause before a retry, or the time for an answer. */
  | { readonly kind: 'time-came'; readonly at: number; readonly agent: string }
  | { readonly kind: 'usage-limit-over'; readonly at: number }
  | {
      readonly kind: 'stop';
      readonly at: number;
      readonly how: 'drain' | 'now';
      /** By default a person. */
      readonly why?: 'person' | 'shutdown' | undefined;
    }
  | {
      readonly kind: 'resume';
      readonly at: number;
      readonly settings: Settings;
      readonly input: string | undefined;
      /** Refs of workflows whose files have changed, and whose changes the user accepted. */
      readonly accepted?: readonly string[];
      /** Whether the failed agents begin new sessions. */
      readonly fresh?: boolean | undefined;
    }
  /** The removal of a worktree has ended. `kept` says why the worktree stays, if it does. */
  | {
      readonly kind: 'worktree-settled';
      readonly at: number;
      readonly agent: string;
      readonly kept: string | undefined;
    }
  /** No step runs and none can start. */
  | {
      readonly kind: 'idle';
      readonly at: number;
      /** Whether a user may still answer a question. */
      readonly attended: boolean;
      /** Whether this process may wait for the deadline of a question. */
      readonly patient: boolean;
    };

/** A person has decided about a permission request. */
export interface PermissionDecided extends PermissionDecision {
  readonly kind: 'permission-decided';
  readonly at: number;
  readonly agent: string;
  readonly step: number;
  readonly request: string;
  readonly by?: string | undefined;
}

/** There may be room for the agent's next step. */
export interface StartStep {
  readonly kind: 'start-step';
  readonly at: number;
  readonly agent: string;
  readonly newSession: string;
  /**
   * The names of the executors of prompts and of scripts. Without one for prompts, each state has an
   * agent, and the executor of that agent takes its prompts.
   */
  readonly executors: { readonly prompt?: string; readonly script: string };
  /** The process that would take the step; absent if it is not recorded. */
  readonly worker?: string | undefined;
  /** Whether it waits in a queue until a worker takes it. */
  readonly queued?: boolean;
}

/** A worker begins a step that waited in a queue. */
interface StepTaken {
  readonly kind: 'step-taken';
  readonly at: number;
  readonly agent: string;
  readonly step: number;
  readonly worker: string;
}

/** A step has begun in a state that compares its entries. */
interface StateEntered {
  readonly kind: 'state-entered';
  readonly at: number;
  readonly agent: string;
  readonly step: number;
  readonly digest: string;
}

/** The files before a step are stored. */
interface FilesRecorded {
  readonly kind: 'files-recorded';
  readonly at: number;
  readonly agent: string;
  readonly step: number;
  readonly tree: string;
}

export interface StepEnded {
  readonly kind: 'step-ended';
  readonly at: number;
  readonly agent: string;
  readonly step: number;
  readonly outcome: StepReport;
  /** The worktree of the agent; undefined if it has none or if it could not be inspected. */
  readonly worktree?: WorktreeLook | undefined;
}

/** How a step ended, with its output already read. */
export type StepReport = { readonly account: Account } & (
  | {
      readonly kind: 'answered';
      readonly reading: TagReading;
      /** A prompt's final message, or the end of a check's output. Other output is only read for tags. */
      readonly text: string;
      readonly answer?: AnswerRef | undefined;
      /** The exit code of a check. */
      readonly exit?: number | undefined;
      readonly denied: readonly string[];
      readonly facts: Facts;
    }
  | { readonly kind: 'failed'; readonly failure: Failure }
  /** Raymond stopped it, or found it dead after a crash. */
  | { readonly kind: 'interrupted'; readonly sessionUsable: boolean }
);

/** The facts about the paths in a step's tags. Paths are as written. */
export interface Facts {
  readonly directories: ReadonlyMap<string, Located<DirectoryFact>>;
  readonly workflows: ReadonlyMap<string, Located<WorkflowFact>>;
  /** By `worktreeKey`. */
  readonly worktrees: ReadonlyMap<string, Located<WorktreeFact>>;
  /** The files that questions show, by `filesKey`. Absent where nothing is kept, as in rehearsals. */
  readonly files?: ReadonlyMap<string, Located<FilesFact>>;
  /** The names of variables that are already set for programs, in lower case. */
  readonly environment: ReadonlySet<string>;
}

export interface DirectoryFact {
  /** Absolute, with links resolved. */
  readonly path: string;
  /** It is in the project of the run, or in another worktree of the repository of the project. */
  readonly inProject: boolean;
  /** A git repository that contains it and that did not exist in this form when the run began. */
  readonly newRepository?: string;
}

export interface WorkflowFact {
  readonly ref: string;
  readonly entry: StateName;
  readonly inProject: boolean;
  /** Its files have not changed since the run began. */
  readonly unchanged: boolean;
}

/** The content of the files is stored. */
export interface FilesFact {
  readonly files: readonly KeptFile[];
}

/** The facts that a fork needs to give its child a worktree. */
export interface WorktreeFact {
  /** Absent in rehearsals and workflow tests, which create no worktrees. */
  readonly tree: TreeFact | undefined;
}

export interface TreeFact {
  /** The folder of git for the tree that has the directory. */
  readonly repository: string;
  /** The commit from which the worktree would start. */
  readonly base: string;
  /** Where the worktrees of the run are. */
  readonly folder: string;
  /** The directory, relative to the root of its tree; '' for the root. */
  readonly place: string;
  /** The branches of the run that exist, as `sameOnDisk` gives them. */
  readonly taken: ReadonlySet<string>;
}

export type Located<T> =
  | ({ readonly found: true } & T)
  | { readonly found: false; readonly problem: string };
