import type { Settings } from './event.ts';
import type { Failure } from './failure.ts';
import type { StateName } from './state-name.ts';
import type { Account, AnswerRef } from './step-account.ts';
import type { TagReading } from './tag.ts';

/**
 * Everything that can happen to a run. Time, ids and what the file system says come in with it, so
 * that interpreting it needs nothing else.
 */
export type Input =
  | StartStep
  | StepEnded
  | {
      readonly kind: 'person-answered';
      readonly at: number;
      readonly agent: string;
      readonly askedAt: number;
      readonly text: string;
    }
  /** A wait is over: a pause before another try, or the time for an answer. */
  | { readonly kind: 'time-came'; readonly at: number; readonly agent: string }
  | { readonly kind: 'usage-limit-over'; readonly at: number }
  | { readonly kind: 'stop'; readonly at: number; readonly how: 'drain' | 'now' }
  | {
      readonly kind: 'resume';
      readonly at: number;
      readonly settings: Settings;
      readonly input: string | undefined;
      /** Refs of workflows whose files were changed, and are to be used as they are now. */
      readonly accepted?: readonly string[];
      /** Whether the agents that had failed give up their sessions. */
      readonly fresh?: boolean | undefined;
    }
  /** Nothing runs and nothing can be started. */
  | {
      readonly kind: 'idle';
      readonly at: number;
      /** Somebody may still answer a question. */
      readonly attended: boolean;
      /** This process may wait for the deadline of a question. */
      readonly patient: boolean;
    };

/** There may be room for the agent's next step. */
export interface StartStep {
  readonly kind: 'start-step';
  readonly at: number;
  readonly agent: string;
  readonly newSession: string;
  /** Who would take it: the names of the executors of prompts and of scripts. */
  readonly executors: { readonly prompt: string; readonly script: string };
  /** The process that would take it; absent where nobody asks. */
  readonly worker?: string | undefined;
}

export interface StepEnded {
  readonly kind: 'step-ended';
  readonly at: number;
  readonly agent: string;
  readonly step: number;
  readonly outcome: StepReport;
}

/** How a step ended, with its output already read. */
export type StepReport = { readonly account: Account } & (
  | {
      readonly kind: 'answered';
      readonly reading: TagReading;
      /** A prompt's final message; a script's output is only read for tags. */
      readonly text: string;
      readonly answer?: AnswerRef | undefined;
      readonly denied: readonly string[];
      readonly facts: Facts;
    }
  | { readonly kind: 'failed'; readonly failure: Failure }
  /** Stopped by us, or found dead after a crash. */
  | { readonly kind: 'interrupted'; readonly sessionUsable: boolean }
);

/** What the world says about a step's tags. Paths are as written. */
export interface Facts {
  readonly directories: ReadonlyMap<string, Located<DirectoryFact>>;
  readonly workflows: ReadonlyMap<string, Located<WorkflowFact>>;
  /** The variables that programs find set already; in lower case where case does not matter. */
  readonly environment: ReadonlySet<string>;
}

export interface DirectoryFact {
  /** Absolute, with links resolved. */
  readonly path: string;
  /** It lies in the project of the run, or in another worktree of the project's repository. */
  readonly inProject: boolean;
}

export interface WorkflowFact {
  readonly ref: string;
  readonly entry: StateName;
  readonly inProject: boolean;
  /** Its files are as they were when the run began. */
  readonly unchanged: boolean;
}

export type Located<T> =
  | ({ readonly found: true } & T)
  | { readonly found: false; readonly problem: string };
