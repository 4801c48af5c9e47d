/**
 * INV-10: An append has happened when it resolves, as a whole or not at all. Only the holder of a
 * valid lease changes a run.
 *
 * The store of runs. It holds everything that is kept of runs, and is the only way to reach it.
 * Runs are known by their ids. Files are one store. `test/contracts/run-store.ts` defines the rules
 * for every store.
 *
 * 1. An append has happened when it resolves: every later reader finds its events.
 * 2. An append of several events exists as a whole or not at all.
 * 3. One lease is valid per run. A lost lease changes nothing.
 * 4. Messages are delivered in the order of their posting, and stay until they are done.
 * 5. A publication lasts no longer than the lease of its owner. Nothing depends on it.
 */
import type { JournaledEvent, RunEvent } from '../model/event.ts';
import type { Message } from '../model/message.ts';
import type { Now } from '../model/now.ts';
import type { Run } from '../model/run.ts';
import type { RunSummary } from '../model/run-summary.ts';
import type { STEP_FILES } from '../model/step-files.ts';
import type { UserError } from '../model/user-error.ts';
import type { KeptFiles } from './kept-files.ts';

export interface RunStore {
  /** The ids of all runs that have anything left, in order. */
  list(): Promise<readonly string[]>;
  /** Summaries of all runs, in no particular order. Finished runs cost little, however long they are. */
  survey(): Promise<readonly SurveyedRun[]>;
  /**
   * The current state of a run. Damage is data: a run that cannot be read does not hide the others.
   * Whoever also wants the history passes `each`, which gets every event from the first one on.
   */
  look(id: string, each?: EachEvent): Promise<LookedAtRun>;
  /** The process that works on a run. */
  owner(id: string): Promise<RunOwner | undefined>;
  /**
   * The events after a position, up to the current end. Throws a UserError if they cannot be read.
   */
  events(id: string, after?: number): AsyncIterable<JournaledEvent>;
  /** The same events, and then each new one, until aborted. No event is missing or repeated. */
  watch(id: string, after: number, signal: AbortSignal): AsyncIterable<JournaledEvent>;
  /**
   * The last publication of the run's owner. Undefined if the run has no owner, if the owner has
   * published nothing, or if the publication cannot be read.
   */
  now(id: string): Promise<Now | undefined>;
  /** The same, and then each newer publication, until aborted. It may leave out intermediate ones. */
  watchNow(id: string, signal: AbortSignal): AsyncIterable<Now | undefined>;
  /**
   * Yields whenever anything of a run, or the summary or the mail of any run, may have changed, until
   * aborted. It may yield although nothing has.
   */
  news(id: string | undefined, signal: AbortSignal): AsyncIterable<void>;
  /**
   * Gives the run to this process alone. Rejects with a UserError that names the owner if there is
   * one.
   */
  lease(id: string): Promise<Lease>;
  mailbox(id: string): Mailbox;
  records(id: string): StepRecords;
  files(id: string): KeptFiles;
  /** The name consists of letters, digits and hyphens. */
  cache(name: string): Cache;
}

/**
 * A text that was computed from runs, kept so that it need not be computed again. It may be lost at any
 * time. A text that no process of this user wrote does not exist.
 */
export interface Cache {
  read(): Promise<string | undefined>;
  /** Never rejects because of the disk: a cache that cannot be written is lost. */
  write(text: string): Promise<void>;
}

export type EachEvent = (event: JournaledEvent, before: Run | undefined, after: Run) => void;

export type LookedAtRun = StoredRun | DamagedRun;
export type SurveyedRun = StoredRun<RunSummary> | DamagedRun;

export interface StoredRun<R = Run> {
  readonly kind: 'stored';
  readonly id: string;
  readonly run: R;
  /** Whether the user started it here. Runs can come with a project, like any other file. */
  readonly isOwn: boolean;
  /** Why it is not the user's own, as far as that is known. */
  readonly doubt?: Doubt;
  readonly owner: RunOwner | undefined;
}

/** Why a run is not the user's own. */
export interface Doubt {
  /** A sentence. */
  readonly why: string;
  /** The first line of its journal that the user's Raymond did not write. */
  readonly line?: number;
}

export interface DamagedRun {
  readonly kind: 'damaged';
  readonly id: string;
  readonly problem: UserError;
}

/**
 * A process that works on a run. The three parts of its name distinguish it from a later process
 * with its pid.
 */
export interface RunOwner {
  readonly pid: number;
  readonly started: string;
  readonly boot: string;
  /** Its name for users, with its machine if that is another one. */
  readonly name: string;
  /** Whether this process can see and signal it. */
  readonly isHere: boolean;
  /** No process yet: the next worker that starts takes the run. The other facts mean nothing. */
  readonly isAwaited?: true;
}

/** The right to change a run. After it is lost, every change is refused with RunLost. */
export interface Lease {
  /** Begins a run with its first events; refuses an id that is in use. `unsealed` as in `seal`. */
  create(
    events: readonly RunEvent[],
    after: Run,
    kept?: KeptWithRun,
  ): Promise<{ readonly journal: OwnedJournal; readonly unsealed: UserError | undefined }>;
  /**
   * Opens a run to continue it. Only one journal can be open at a time. A run that is not the user's own
   * does not change by this.
   */
  open(): Promise<OpenedRun>;
  /** Makes a damaged run readable again, up to the damage. Undefined if nothing was damaged. */
  salvage(): Promise<Salvaged | undefined>;
  /** Rejects with RunLost if this process no longer owns the run. */
  confirm(): Promise<void>;
  /**
   * Makes the run the user's own, with these choices. Returns the error if that failed. Throws a
   * UserError if the run is no longer as it was opened.
   */
  seal(chosen: ChosenRun): Promise<UserError | undefined>;
  /** Shows other processes what the agents are doing; replaces the previous publication. */
  publish(now: Now): Promise<void>;
  /** Removes everything that the store keeps of the run. */
  remove(): Promise<void>;
  release(): Promise<void>;
}

/** What a store for several machines keeps with a run. Other stores ignore it. */
export interface KeptWithRun {
  /** The files of the workflows of the run. */
  readonly sources?: readonly { readonly ref: string; readonly archive: Uint8Array }[];
  /** The git remote through which files travel. It may contain a secret. */
  readonly remote?: string | undefined;
  /** The first snapshots of its working trees, if its files travel. */
  readonly trees?: readonly { readonly root: string; readonly snapshot: string }[];
}

/** The parts of a run that a user decides. */
export type ChosenRun = Pick<Run, 'id' | 'workflow' | 'cwd' | 'settings'>;

export interface OpenedRun {
  readonly run: Run;
  readonly isOwn: boolean;
  readonly doubt?: Doubt;
  /** Takes events of a run that is not the user's own only after `seal`. */
  readonly journal: OwnedJournal;
}

export interface Journal {
  /**
   * Resolves when the events are stored. If it rejects, they are not, and nothing may act on them.
   * `after` is the run after these events, so it also gives the expected position. A journal at
   * another position rejects with PositionConflict, and does not change.
   */
  append(events: readonly RunEvent[], after: Run): Promise<void>;
}

export interface OwnedJournal extends Journal {
  /** Waits for the appended events. */
  close(): Promise<void>;
}

export interface Salvaged {
  /** The last event that is left. */
  readonly seq: number;
  readonly lostBytes: number;
  /** The new path of the damaged file; undefined if only its last lines were missing. */
  readonly brokenFile: string | undefined;
}

/** Messages of commands to a run, even to one without a process. */
export interface Mailbox {
  /**
   * Resolves with true if the message is stored, and with false if its question already has an
   * answer.
   */
  post(message: Message): Promise<boolean>;
  /** The messages that wait. */
  messages(): Promise<readonly Message[]>;
  /**
   * Passes each message to the reader once, the waiting ones first. A message that is not done
   * stays for the next reader.
   */
  read(reader: MailReader): Promise<{ close(): void }>;
}

export interface MailReader {
  /** Call `done` when the consequences of the message are stored. */
  onMessage(message: Message, done: () => Promise<void>): void;
  /** A warning about the messages for the user; each kind once. */
  onTrouble(text: string): void;
}

export interface StepKey {
  readonly agent: string;
  readonly step: number;
}

/** The answer of a prompt, or the output of a process. */
export type RecordName = (typeof STEP_FILES)['answer' | 'stdout' | 'stderr']['name'];

/**
 * The records of steps, which executors and workers leave. An instance remembers old records, so use one for
 * each look at a run.
 */
export interface StepRecords {
  /** Undefined if it was not kept or is larger. */
  read(step: StepKey, name: RecordName, maxBytes: number): Promise<Uint8Array | undefined>;
}
