/**
 * INV-10: An append has happened when it resolves, as a whole or not at all. Only the holder of a
 * valid lease changes a run.
 *
 * The store of runs: everything that is kept of them, and the only way to it. Runs are known by their
 * ids. Files are one store; `test/contracts/run-store.ts` says what every store has to hold.
 *
 * 1. An append has happened when it resolves: whoever reads afterwards, wherever, finds its events.
 * 2. An append of several events is there as a whole or not at all.
 * 3. One lease is valid per run. Under a lease that is lost, nothing is changed.
 * 4. Messages are delivered in the order of their posting, and stay until they are done.
 */
import type { JournaledEvent, RunEvent } from '../model/event.ts';
import type { Message } from '../model/message.ts';
import type { Run } from '../model/run.ts';
import type { STEP_FILES } from '../model/step-files.ts';
import type { UserError } from '../model/user-error.ts';

export interface RunStore {
  /** The ids of all runs of which anything is left, in order. */
  list(): Promise<readonly string[]>;
  /** A run as it is now. Damage is data: one run that cannot be read does not hide the others. */
  look(id: string): Promise<LookedAtRun>;
  /** The process that works on a run. */
  owner(id: string): Promise<RunOwner | undefined>;
  /** The events behind a position, to the end of now. A UserError when they cannot be read. */
  events(id: string, after?: number): AsyncIterable<JournaledEvent>;
  /** The same, and then each as it is appended, until aborted: none is left out, none comes twice. */
  watch(id: string, after: number, signal: AbortSignal): AsyncIterable<JournaledEvent>;
  /** Gives the run to this process alone; a UserError that names the owner when there is one. */
  lease(id: string): Promise<Lease>;
  mailbox(id: string): Mailbox;
  records(id: string): StepRecords;
}

export type LookedAtRun = StoredRun | DamagedRun;

export interface StoredRun {
  readonly kind: 'stored';
  readonly id: string;
  readonly run: Run;
  /** Whether the user started it here. Runs can come with a project, like any other file. */
  readonly isOwn: boolean;
  readonly owner: RunOwner | undefined;
}

export interface DamagedRun {
  readonly kind: 'damaged';
  readonly id: string;
  readonly problem: UserError;
}

/** A process that works on a run. The three parts of its name tell it from a later one with its pid. */
export interface RunOwner {
  readonly pid: number;
  readonly started: string;
  readonly boot: string;
  /** What a person calls it, with its machine if that is another one. */
  readonly name: string;
  /** Whether it can be seen, and signalled, from here. */
  readonly isHere: boolean;
}

/** The right to change a run. Every change is refused with RunLost once it is lost. */
export interface Lease {
  /** Begins a run with its first events; refuses an id that is in use. `unsealed` as in `seal`. */
  create(
    events: readonly RunEvent[],
    after: Run,
  ): Promise<{ readonly journal: OwnedJournal; readonly unsealed: UserError | undefined }>;
  /** Opens a run to continue it. One journal is open at a time. */
  open(): Promise<OpenedRun>;
  /** Makes a damaged run readable again, as far as it is good; undefined when nothing was damaged. */
  salvage(): Promise<Salvaged | undefined>;
  /** Rejects with RunLost when the run is no longer this process's. */
  confirm(): Promise<void>;
  /** Marks what the user chose, so that the run is known as the user's own. Gives why that failed. */
  seal(chosen: ChosenRun): Promise<UserError | undefined>;
  keepRecord(step: StepKey, name: RecordName, content: Uint8Array): Promise<void>;
  /** The git tree of the files as they were at the end of a step. */
  keepTree(step: StepKey, tree: string): Promise<void>;
  /** Removes everything that is kept of the run. */
  remove(): Promise<void>;
  release(): Promise<void>;
}

/** What a user decides about a run. */
export type ChosenRun = Pick<Run, 'id' | 'workflow' | 'cwd' | 'settings'>;

export interface OpenedRun {
  readonly run: Run;
  readonly isOwn: boolean;
  readonly journal: OwnedJournal;
}

export interface Journal {
  /**
   * Resolves when the events are kept; rejects when they are not, and then nothing may act on them.
   * `after` is the run to which they lead. So it also names the position that they expect: a journal
   * that is at another one rejects with PositionConflict, and is not changed.
   */
  append(events: readonly RunEvent[], after: Run): Promise<void>;
}

export interface OwnedJournal extends Journal {
  /** Waits for what was appended. */
  close(): Promise<void>;
}

export interface Salvaged {
  /** The last event that is left. */
  readonly seq: number;
  readonly lostBytes: number;
  /** Where the damaged file is now; undefined when only its last lines were missing. */
  readonly brokenFile: string | undefined;
}

/** How commands reach a run, also one that nobody works on. */
export interface Mailbox {
  /** Resolves with true when the message is kept; with false when its question has an answer already. */
  post(message: Message): Promise<boolean>;
  /** Those that wait to be taken. */
  messages(): Promise<readonly Message[]>;
  /** Passes on each message once, those that wait first. What is not done stays for the next reader. */
  read(reader: MailReader): Promise<{ close(): void }>;
}

export interface MailReader {
  /** `done` is for when what followed from the message is stored. */
  onMessage(message: Message, done: () => Promise<void>): void;
  /** Something that a person should know about the messages; of each kind once. */
  onTrouble(text: string): void;
}

export interface StepKey {
  readonly agent: string;
  readonly step: number;
}

/** What a prompt answered; what a process wrote. */
export type RecordName = (typeof STEP_FILES)['answer' | 'stdout' | 'stderr']['name'];

/** What steps left. It remembers what it has read of old steps: one is for one look at a run. */
export interface StepRecords {
  /** Undefined when it was not kept, or is larger. */
  read(step: StepKey, name: RecordName, maxBytes: number): Promise<Uint8Array | undefined>;
  tree(step: StepKey): Promise<string | undefined>;
}
