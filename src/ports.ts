/**
 * INV-9: An executor never rejects: a failure is an outcome.
 *
 * The interfaces to the outside world. `run/` knows these, and no implementation.
 */

import type { Choices } from './model/agent.ts';
import type { Words } from './model/agent-state.ts';
import type { Approval } from './model/approval.ts';
import type { RunEvent, SessionUse } from './model/event.ts';
import type { Failure } from './model/failure.ts';
import type {
  DirectoryFact,
  Facts,
  FilesFact,
  Located,
  TreeFact,
  WorkflowFact,
} from './model/input.ts';
import type { ANSWER_FILES, KeptFile } from './model/kept-file.ts';
import type { NotesAccess } from './model/notes.ts';
import type { PermissionDecision, PermissionRequest } from './model/permission.ts';
import type { StepRights } from './model/rights.ts';
import type { OpenRequest, Run } from './model/run.ts';
import type { StateName } from './model/state-name.ts';
import type { Account, AnswerRef } from './model/step-account.ts';
import type { OutputText } from './model/tag.ts';
import type { Interpreter, Workflow } from './model/workflow.ts';
import type { AgentWorktree, WorktreeLook } from './model/worktree.ts';
import type { StepKey } from './ports/run-store.ts';
import type { SessionTravel } from './ports/travel.ts';

export type * from './ports/kept-files.ts';
export type * from './ports/occasions.ts';
export type * from './ports/run-store.ts';
export type * from './ports/step-reader.ts';
export type * from './ports/travel.ts';

/** The loaded workflows of a run by ref, and a way to load others. */
export interface WorkflowLibrary {
  get(ref: string): Workflow | undefined;
  /**
   * Loads the workflow at a path, relative to a workflow or the working directory. Throws a
   * UserError if it cannot.
   */
  load(path: string, from?: string): Promise<Workflow>;
  /** The path at which an author finds a file of a workflow, for diagnostics. */
  pathOf(ref: string, file: string): string;
  /**
   * The files from which a loaded workflow was read: those of its states, or the one that contains
   * them all. With `states`, without the files of other states.
   */
  filesOf(ref: string, states?: ReadonlySet<string>): readonly string[];
  /** The folder in which a workflow's scripts can be executed. */
  scriptFolder(ref: string): Promise<string>;
}

/** Runs steps. It never rejects: a failure is an outcome. */
export interface Executor {
  /** The name of the executor in the journal. */
  readonly name: string;
  /**
   * Does what has no effect by itself, so that `start` takes less time. The decision to start the step
   * is not on disk yet, so it may be that the step never starts.
   */
  prepare?(step: Step): void;
  start(step: Step, live: (live: Live) => void, ask?: AskPerson): RunningStep;
  /**
   * Adopts a step that an earlier process started. The step may run, have finished, or be lost. It
   * reports its open permission requests again.
   */
  adopt(step: Step, live: (live: Live) => void, ask?: AskPerson): RunningStep;
  /** Ends everything that it keeps between steps. */
  close(): Promise<void>;
  /** Present if its sessions can continue on another machine. */
  readonly travel?: SessionTravel;
}

/** Reports the permission requests of a step, and the words that it has heard. */
export type AskPerson = (asking: Asking) => void;

export type Asking =
  | { readonly kind: 'requested'; readonly request: PermissionRequest }
  /** The agent no longer wants a decision. */
  | { readonly kind: 'withdrawn'; readonly request: string }
  /** The model has got the words of a person. */
  | { readonly kind: 'heard'; readonly words: string };

/** The executors of the steps of a run. */
export interface Executors {
  /** One for all prompts, or one for the prompts of each agent, by its name. */
  readonly prompt: Executor | ReadonlyMap<string, Executor>;
  readonly script: Executor;
  /** Ends processes of the run that belong to no running step. */
  readonly endStrays?: () => Promise<unknown>;
  /**
   * Another process has adopted the running steps. This process no longer follows or ends them, and
   * starts no others. Their outcomes settle.
   */
  readonly leave?: () => void;
  /** Absent if no step gets secrets. */
  readonly secrets?: SecretValues;
}

/** The values of secrets never leave the executors. */
export interface SecretValues {
  /** Asks for the values, so that a step can start. Returns the problem and its remedy if there is one. */
  ready(names: readonly string[]): Promise<string | undefined>;
  /** Bytes without the values that are known here. Undefined if one of these secrets is not known. */
  clean(names: readonly string[], bytes: Uint8Array): Uint8Array | undefined;
}

export interface RunningStep {
  readonly outcome: Promise<StepOutcome>;
  /** An earlier process started it, under the rules of that time. */
  readonly isAdopted?: true;
  /** Ends the step and everything that it started; `outcome` then settles. */
  stop(): void;
  /**
   * Gives the decision about a permission request to the agent. It may come before an adopted step has
   * reported the request again, and more than once.
   */
  decide?(request: string, decision: PermissionDecision): void;
  /**
   * Says words of a person to the agent during the turn. May come more than once with the same id. Words
   * that the agent does not report as heard wait for its next prompt.
   */
  say?(id: string, text: string): void;
  /**
   * Leaves the step to a later process, which adopts it; `outcome` then settles. Absent if the step
   * cannot outlive this process.
   */
  leave?(): void;
}

export type Step = PromptStep | ScriptStep | CheckStep;

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
  /** Absent if the step may do everything that the user may. */
  readonly rights?: ConfinedTo | undefined;
}

/** The rights of a step, and what they depend on. */
export interface ConfinedTo extends StepRights {
  /** The states that the agent is in or returns to, and the workflows that the run has read. */
  readonly places: readonly Place[];
  /** The agent's own folder, which it may change. */
  readonly taskFolder: string;
}

/** A workflow, and a state of it if an agent is there. */
export interface Place {
  readonly workflow: string;
  readonly state?: StateName;
}

export interface PromptStep extends StepParts {
  readonly kind: 'prompt';
  readonly prompt: string;
  /**
   * Present if the answer is a text and no transition: a handover, or the values of placeholders. Values
   * are written by a model that has no tools and sees nothing of the project.
   */
  readonly writes?: Writing;
  /** The words of people at its beginning that no earlier attempt had. */
  readonly newWords: readonly Words[];
  readonly session: SessionUse;
  /** The states that the agent is in or returns to, and the workflows that the run has read. */
  readonly places: readonly Place[];
  /** The agent's own folder. It may use it, wherever it works. */
  readonly taskFolder: string;
  /** The combined choices of the run, the state and the tag that led to it. */
  readonly choices: Choices;
  /** The most that this turn may cost. */
  readonly budgetUsd: number | undefined;
  /** The folder of the earlier attempt, if this step repeats one. */
  readonly previousFolder: string | undefined;
  readonly warm: boolean;
  /** Whether tool calls that the agent may not make by itself wait for a person. */
  readonly asksPermissions: boolean;
  /** The rules that people have allowed for the run. */
  readonly granted: readonly string[];
}

export type Writing =
  | { readonly kind: 'handover' }
  /** `names` are the placeholders. */
  | { readonly kind: 'fill'; readonly names: readonly string[] };

export interface ScriptStep extends StepParts {
  readonly kind: 'script';
  readonly file: string;
  /** The expected sha256 of the file; undefined if it is unknown. */
  readonly sha256: string | undefined;
  readonly interpreter: Interpreter;
  /** The value for RAYMOND_RESULT. */
  readonly input: string | undefined;
}

/** A command that must succeed before a transition of a prompt is taken. */
export interface CheckStep extends StepParts {
  readonly kind: 'check';
  readonly command: string;
  readonly interpreter: Interpreter;
  /** The value for RAYMOND_RESULT. */
  readonly input: string | undefined;
}

/** How a step ended, and its account. */
export type StepOutcome = { readonly account: Account } & (
  | {
      readonly kind: 'answered';
      readonly output: OutputText;
      /** Refers to the output in the record of the step; absent if none is kept. */
      readonly answer?: AnswerRef | undefined;
      /** The exit code of a check. Its `output` is the end of what it wrote. */
      readonly exit?: number | undefined;
      readonly denied: readonly string[];
    }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'interrupted'; readonly sessionUsable: boolean }
);

/** Events inside a step, for observers. Prints and warnings are journaled when the step ends. */
export type Live =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tool'; readonly name: string; readonly summary: string }
  | { readonly kind: 'denied'; readonly tool: string }
  | { readonly kind: 'print'; readonly text: string }
  /** The prompt of a rehearsed step. */
  | { readonly kind: 'prompt'; readonly text: string }
  | { readonly kind: 'note'; readonly text: string }
  /** What the step has cost so far, as an estimate. Its end has the cost that counts. */
  | { readonly kind: 'spent'; readonly usd: number }
  /** A fact that the person has to know even if nobody watches the run. */
  | { readonly kind: 'warning'; readonly text: string };

export interface Clock {
  now(): number;
  /** Calls back at a time, or immediately if it has passed. Returns a function that cancels. */
  at(time: number, callback: () => void): () => void;
}

export interface Observer {
  event(event: RunEvent, before: Run | undefined, after: Run): void;
  live(step: StepKey, live: Live): void;
  /** There are no more events. */
  close?(): void | Promise<void>;
}

/** A person who may answer the questions of a run while it is carried. */
export interface Person {
  ask(question: OpenQuestion, reply: Reply): void;
  /** It plays people who sign. Others sign with `raymond answer --sign`, and are not asked such questions. */
  readonly signs?: true;
  /** The question with this id no longer needs an answer from this person. */
  withdraw?(id: string): void;
  /** Whether this person may still answer. */
  isPresent(): boolean;
  close?(): void;
}

export interface OpenQuestion {
  /** Unique among the open questions. */
  readonly id: string;
  readonly run: string;
  readonly agent: string;
  readonly question: string;
  /** Shown with it. */
  readonly files?: readonly KeptFile[] | undefined;
  readonly deadline?: number | undefined;
  /** Only signatures answer it. */
  readonly approval?: Approval | undefined;
  /** Present for a permission request, which is answered with a decision. */
  readonly request?: OpenRequest | undefined;
}

export interface Reply {
  /** For a question of the workflow. */
  answer(text: string): void;
  /** For a permission request. */
  decide(decision: PermissionDecision): void;
  /** The person has left. */
  leave(): void;
}

/** Asks a run to stop, as signals do. Returns a function that ends this. */
export type StopSource = (stop: (how: 'drain' | 'now', why?: 'shutdown') => void) => () => void;

/** The facts that Raymond needs before it can follow an answer. */
export interface Ground {
  /**
   * Resolves a path from a directory, absolute and with links resolved, or says why it cannot be
   * used.
   */
  findDirectory(path: string, from: string): Promise<Located<DirectoryFact>>;
  /** The facts that decide whether an agent may choose a loaded workflow. */
  lookAtWorkflow(ref: string): Promise<Pick<WorkflowFact, 'inProject' | 'unchanged'>>;
  /**
   * Stores the files that a question shows, or says why one of them cannot be shown. Absent where nothing is
   * kept: in rehearsals and workflow tests.
   */
  keepFiles?(paths: readonly string[], from: string, whose: FilesOf): Promise<Located<FilesFact>>;
  readonly environment: Facts['environment'];
  /**
   * Stands for a value and for the files of the working tree that contains a directory. Rejects if
   * they cannot be compared.
   */
  entryDigest(input: string | undefined, directory: string): Promise<string>;
}

/** Who has chosen files that a question shows. */
export interface FilesOf {
  /** An agent may choose only files of the project and of its own folder. */
  readonly by: 'agent' | 'author';
  /** The rights with which the agent works; undefined if it may do everything that the user may. */
  readonly rights: StepRights | undefined;
  /** Removes the secrets that the steps of the run may have written. Undefined if that is not possible. */
  readonly clean?: ((bytes: Uint8Array) => Uint8Array | undefined) | undefined;
  /** The largest size of all of them together. */
  readonly most: number;
}

/** The git worktrees of a run's child agents. */
export interface Worktrees {
  /** The facts for a fork whose child gets a worktree for this directory. `base` is as written. */
  find(directory: string, base: string | undefined): Promise<Located<TreeFact>>;
  /** Makes the worktree of an agent, unless it exists. `cwd` is the agent's directory in it. */
  make(agent: string, worktree: AgentWorktree, cwd: string): Making;
  /** Rejects if the worktree cannot be judged. */
  look(agent: string, worktree: AgentWorktree): Promise<WorktreeLook>;
  /** Removes a worktree that has no work; otherwise resolves with the reason why it stays. */
  remove(agent: string, worktree: AgentWorktree): Promise<string | undefined>;
}

/** The files of working trees at moments of a run. */
export interface FileHistory {
  /** The root of the working tree that contains a directory; undefined if it is in no repository. */
  rootOf(directory: string): string | undefined;
  /**
   * Stores the files of a working tree, except ignored ones, and gives their id. With `goal`, also
   * stores the ignored files that `restore` with this id would overwrite. Rejects if it cannot.
   */
  record(root: string, goal?: string): Promise<string>;
  /**
   * Brings stored files back, and touches no file that is equal. It can be repeated after a crash at
   * any moment. Rejects if it cannot.
   */
  restore(root: string, tree: string): Promise<void>;
}

/** Compares the recorded files of a run, and changes nothing. */
export interface FileComparer {
  /** The root of the working tree with the directory, if files of it were recorded on this machine. */
  rootOf(directory: string): string | undefined;
  /** The changes from the first to the last record. Rejects if a record is gone. */
  compare(root: string, pairs: readonly RecordPair[]): Promise<ComparedFiles>;
  /** Whether the HEAD of its repository has the commits of a branch. Undefined if that is not known. */
  isMerged(root: string, branch: string): Promise<boolean | undefined>;
}

/** Two records without the work of others between them. */
export type RecordPair = readonly [before: string, after: string];

export interface ComparedFiles {
  readonly files: readonly ChangedPath[];
  /** The number of further files. */
  readonly more: number;
}

export interface ChangedPath {
  readonly path: string;
  /** The former path of a moved file. */
  readonly was: string | null;
  readonly kind: 'added' | 'changed' | 'deleted' | 'moved';
  readonly added: number;
  readonly removed: number;
  /** In the format of git; null if it is left out. */
  readonly patch: string | null;
  readonly omitted: 'binary' | 'large' | 'many' | null;
}

export interface Making {
  /** Resolves with what prevented it, if anything did. Never rejects. */
  readonly done: Promise<string | undefined>;
  /** Gives it up; `done` then settles. */
  stop(): void;
}

/** Limits what steps leave on disk. */
export interface StepKeeper {
  /** Handles an event that is on disk. */
  event(event: RunEvent): void;
  /** Finishes the work that a killed process left. */
  catchUp(run: Run): void;
  /** Resolves when all possible work is done. */
  close(): Promise<void>;
}

/** The folders in which the steps of a run work. */
export interface RunFolders {
  step(agent: string, number: number): string;
  /** Whether an executor has begun to work on the step: it creates the folder. */
  hasBegun(agent: string, number: number): boolean;
  /** Created by the first call. */
  task(agent: string): string;
  /**
   * Replaces all files in a folder of the agent's task folder: the results of its children, or the files
   * that came with an answer.
   */
  put(
    agent: string,
    folder: 'joined' | typeof ANSWER_FILES,
    files: ReadonlyMap<string, string | Uint8Array>,
  ): void;
  readonly notes: NoteFolders;
}

/** The folders `notes` in the task folders of the agents. */
export interface NoteFolders {
  /** Replaces everything in it. */
  put(agent: string, files: ReadonlyMap<string, string>, may: NotesAccess): void;
  /** What is in it now; undefined if it is gone. */
  read(agent: string): FoundNotes | undefined;
  remove(agent: string): void;
  /** The sha256 of a note. */
  digest(content: Uint8Array): string;
}

export interface FoundNotes {
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Paths that cannot be notes, with the reasons. */
  readonly refused: ReadonlyMap<string, string>;
  /** False if the folder has so many entries that the rest was not read. */
  readonly isWhole: boolean;
}

/** The standard error of a background process. */
export interface ProcessLog {
  /** May not exist. */
  readonly path: string;
  /** Opens a file for a process that is about to start. */
  open(): Promise<StartingLog>;
  /** Gives the file of a process its final name: its run has begun. */
  keep(starting: string): void;
}

export interface StartingLog {
  readonly path: string;
  readonly descriptor: number;
  close(): void;
  /** The text that the process has written so far. */
  text(): string;
  /** Removes the file: the run has not begun. */
  remove(): void;
}

/** Everything that a run has on this machine, except its store. */
export interface Workspace extends RunFolders {
  /** Contains everything except the debug folders, the worktrees and the task folders. */
  readonly folder: string;
  /** Scripts of zip archives, unpacked. */
  readonly source: string;
  /** The kept files of a workflow, by the path that contains its states; see `KeptWithRun`. */
  archive(container: string): Promise<Uint8Array | undefined>;
  /** Whether the run keeps files of workflows. */
  hasArchives(): boolean;
  /** The notes of an executor about the sessions. */
  readonly sessions: string;
  /** The git worktrees of the agents. They are not in `folder`. */
  readonly worktrees: string;
  /** The task folders of the agents. They are not in `folder`. */
  readonly tasks: string;
  /** What is needed to record the files of working trees. */
  readonly files: string;
  /** The processes of git that make worktrees. */
  readonly makings: string;
  /** The log of the background process of the run. */
  readonly processLog: ProcessLog;
  /** The debug folder, one for each start. */
  debug(startedAt: Date): string;
  /** Throws a UserError if it contains anything but files and folders of the user. */
  check(): Promise<void>;
  /**
   * The folders of steps that the run does not know. A journal that was salvaged or restored from a
   * backup lacks some of the executed steps.
   */
  unknownSteps(run: Run): Promise<readonly string[]>;
  /** Renames such a folder, so that its name is free. */
  setAside(step: string): Promise<void>;
}
