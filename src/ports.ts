/**
 * INV-9: An executor never rejects: a failure is an outcome.
 *
 * The interfaces to the outside world. `run/` knows these, and no implementation.
 */
import type { Choices } from './model/agent.ts';
import type { RunEvent, SessionUse } from './model/event.ts';
import type { Failure } from './model/failure.ts';
import type { DirectoryFact, Facts, Located, WorkflowFact } from './model/input.ts';
import type { Run } from './model/run.ts';
import type { StateName } from './model/state-name.ts';
import type { Account, AnswerRef } from './model/step-account.ts';
import type { OutputText } from './model/tag.ts';
import type { Interpreter, Workflow } from './model/workflow.ts';
import type { StepKey } from './ports/run-store.ts';

export type * from './ports/run-store.ts';

/** The workflows of a run, loaded and by ref, and the way to further ones. */
export interface WorkflowLibrary {
  get(ref: string): Workflow | undefined;
  /** Loads what a path names, as seen from a workflow (or the working directory); UserError when it cannot. */
  load(path: string, from?: string): Promise<Workflow>;
  /** Where an author finds a file of a workflow, as diagnostics name it. */
  pathOf(ref: string, file: string): string;
  /** The files from which a loaded workflow was read: those of its states, or the one that holds them all. */
  filesOf(ref: string): readonly string[];
  /** The folder in which a workflow's scripts can be executed. */
  scriptFolder(ref: string): Promise<string>;
}

/** Runs steps. It never rejects: trouble is an outcome. */
export interface Executor {
  /** By which the journal says who took a step. */
  readonly name: string;
  start(step: Step, live: (live: Live) => void): RunningStep;
  /** Takes up a step that an earlier process started: it may run, have finished, or be lost. */
  adopt(step: Step, live: (live: Live) => void): RunningStep;
  /** Ends what it keeps between steps. */
  close(): Promise<void>;
}

/** Who executes the steps of a run. */
export interface Executors {
  readonly prompt: Executor;
  readonly script: Executor;
  /** Ends what the run has started and no step that is under way knows of. */
  readonly endStrays?: () => Promise<unknown>;
  /**
   * Another process has adopted the steps that are under way. None of them is followed or ended here
   * any more, none is started, and their outcomes settle.
   */
  readonly leave?: () => void;
}

export interface RunningStep {
  readonly outcome: Promise<StepOutcome>;
  /** It was begun by an earlier process, so under the rules of that time. */
  readonly isAdopted?: true;
  /** Ends the step and everything that it started; `outcome` then settles. */
  stop(): void;
}

export type Step = PromptStep | ScriptStep;

interface StepParts {
  readonly run: string;
  readonly agent: string;
  readonly number: number;
  readonly attempt: number;
  /** Ref of the workflow that has the state. */
  readonly workflow: string;
  readonly state: StateName;
  readonly cwd: string;
  /** The step's own folder. */
  readonly folder: string;
  /** Variables that are added to the environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** 0 is none. */
  readonly idleTimeoutMs: number;
}

export interface PromptStep extends StepParts {
  readonly kind: 'prompt';
  readonly prompt: string;
  readonly session: SessionUse;
  /** As this turn has them: those of the run, of the state and of the tag that led to it together. */
  readonly choices: Choices;
  /** What this turn may cost at most. */
  readonly budgetUsd: number | undefined;
  /** The folder of the try before, when this one repeats it. */
  readonly previousFolder: string | undefined;
  readonly warm: boolean;
}

export interface ScriptStep extends StepParts {
  readonly kind: 'script';
  readonly file: string;
  /** The sha256 that the file must have; undefined when nobody knows. */
  readonly sha256: string | undefined;
  readonly interpreter: Interpreter;
  /** The value for RAYMOND_RESULT. */
  readonly input: string | undefined;
}

/** How a step ended, and what it leaves. */
export type StepOutcome = { readonly account: Account } & (
  | {
      readonly kind: 'answered';
      readonly output: OutputText;
      /** The output as the step's record holds it; absent where nothing is kept. */
      readonly answer?: AnswerRef | undefined;
      readonly denied: readonly string[];
    }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'interrupted'; readonly sessionUsable: boolean }
);

/** What happens inside a step, for whoever watches. Not journaled. */
export type Live =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tool'; readonly name: string; readonly summary: string }
  | { readonly kind: 'denied'; readonly tool: string }
  | { readonly kind: 'print'; readonly text: string }
  | { readonly kind: 'note'; readonly text: string };

export interface Clock {
  now(): number;
  /** Calls back at a time, at once if it is past; gives the way to cancel. */
  at(time: number, callback: () => void): () => void;
}

export interface Observer {
  event(event: RunEvent, before: Run | undefined, after: Run): void;
  live(step: StepKey, live: Live): void;
  /** Nothing more comes. */
  close?(): void | Promise<void>;
}

/** Somebody who may answer the questions of a run while it is carried. */
export interface Person {
  ask(question: OpenQuestion, reply: Reply): void;
  /** The question of an agent was settled without them. */
  withdraw(agent: string): void;
  /** Whether they may still answer. */
  isThere(): boolean;
  close(): void;
}

export interface OpenQuestion {
  readonly agent: string;
  readonly question: string;
}

export interface Reply {
  answer(text: string): void;
  /** They are not there any more. */
  leave(): void;
}

/** Asks a run to stop, as signals do; gives the way to end that. */
export type StopSource = (stop: (how: 'drain' | 'now') => void) => () => void;

/** What has to be known of the world before an answer can be followed. */
export interface World {
  /** A path as seen from a directory, absolute and with links resolved, or why it is of no use. */
  findDirectory(path: string, from: string): Promise<Located<DirectoryFact>>;
  /** What is known of a loaded workflow that decides whether an agent may choose it. */
  lookAtWorkflow(ref: string): Promise<Pick<WorkflowFact, 'inProject' | 'unchanged'>>;
  readonly environment: Facts['environment'];
}

/** Keeps what steps leave on disk within bounds. */
export interface StepKeeper {
  /** Takes note of an event that is on disk. */
  event(event: RunEvent): void;
  /** Does what a process that was killed has not got to. */
  catchUp(run: Run): void;
  /** Resolves when everything is done that can be done. */
  close(): Promise<void>;
}

/** Folders in which the steps of a run work. */
export interface RunFolders {
  step(agent: string, number: number): string;
  /** Made when first asked for. */
  task(agent: string): string;
}

/** All that a run has on this machine apart from what its store keeps. */
export interface Workspace extends RunFolders {
  /** Holds all of it but the debug folders. */
  readonly folder: string;
  /** Scripts of zip archives, unpacked. */
  readonly source: string;
  /** What an executor has learned of the sessions. */
  readonly sessions: string;
  /** For whoever wants to look at it; one for each start. */
  debug(startedAt: Date): string;
  /** Throws a UserError if it holds anything but files and folders of the user. */
  check(): Promise<void>;
  /**
   * The folders of steps that a run does not know. A journal that was salvaged, or put back from a
   * backup, does not know of all the steps that were executed.
   */
  unknownSteps(run: Run): Promise<readonly string[]>;
  /** Gives such a folder another name, so that it makes way. */
  setAside(step: string): Promise<void>;
}
