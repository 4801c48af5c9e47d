/**
 * A world is where runs live and who executes them. There are two: `here` keeps runs in files, and this
 * process or a background process works on a run. `fleet` keeps them in a database, and workers execute
 * them. No code outside of this folder asks which one it is.
 */
import type { KnownWorker } from '../fleet/worker-table.ts';
import type { Attendant } from '../host/attendant.ts';
import type { Begun } from '../host/carry-run.ts';
import type { LooseLibrary, StoredSources } from '../load/load.ts';
import type { Settings } from '../model/event.ts';
import type { Input } from '../model/input.ts';
import type { Notice } from '../model/notice.ts';
import type { Run } from '../model/run.ts';
import type { RunOptions } from '../options/run-options.ts';
import type {
  Clock,
  FileHistory,
  KeptWithRun,
  Lease,
  Occasions,
  OwnedJournal,
  Person,
  RunOwner,
  RunStore,
  StepReader,
  StoredRun,
  WorkflowLibrary,
} from '../ports.ts';
import type { BackgroundCommand, Carrier } from './background.ts';

export interface World {
  readonly store: RunStore;
  /** Connects, so that a wrong address is reported before a request needs the store. */
  connect(): Promise<void>;
  /** The workers that execute the runs; undefined if there are none in this world. */
  workers(): Promise<readonly KnownWorker[] | undefined>;
  /** The ledger of what starts runs without a person. */
  occasions(): Promise<Occasions>;
  /** Lets others keep the triggers of a directory. Does nothing if nobody else does. */
  shareTriggers(directory: string): Promise<void>;
  /** Closes what it keeps open for this process. */
  close(): Promise<void>;
  /** Reads the prompts and the messages of steps. */
  steps(): Promise<StepReader>;
  /** The working trees of a run. */
  files(run: string): Promise<FileHistory>;
  /** The stored files of workflows, as the run has read them; undefined if it reads them where they are. */
  sources(run: Run): Promise<StoredSources | undefined>;
  /** Lets a run branch sessions of another one, wherever its steps run. The other run stays as it is. */
  branchSessions(from: Run, to: Run, sessions: readonly string[]): Promise<void>;
  /** Whether `sources` has files. Then a changed file here changes nothing for the run. */
  readonly keepsSources: boolean;
  /** Sentences about worktrees of a run that were on this machine and are gone. */
  lostTrees(run: Run): Promise<readonly string[]>;
  /** How many of these worktrees, which should be on this machine, are gone. */
  countLost(trees: readonly string[]): Promise<number>;
  /** Whether this process was started by a step of the run, as far as this machine knows. */
  isInside(run: string): Promise<boolean>;
  /** Asks the owner of a run to stop it. Returns a function that waits until it has stopped. */
  stop(run: string, how: 'drain' | 'now', owner: RunOwner): Promise<Stopped>;
  /** Removes what a run has outside of its store. Returns sentences about what stays. */
  forget(run: string): Promise<readonly string[]>;
  /** A run that others already execute, so that a resume only shows it. `trusts`: the user accepts it. */
  carried(run: string, trusts: boolean, options: RunOptions): Promise<CarriedRun | undefined>;
  /** Sets aside what a crash has left of a run that is about to continue. */
  tidy(run: Run): Promise<readonly string[]>;
  /** Throws a UserError if the run cannot begin or continue like this. Changes no run. */
  prepare(intended: IntendedRun): Promise<PreparedRun>;
  /**
   * Begins or resumes a run in a process that outlives this one. Undefined if workers execute the runs,
   * so that no such process is needed.
   */
  inBackground(
    run: string,
    command: BackgroundCommand,
    notice: (notice: Notice) => void,
  ): Promise<Carrier | undefined>;
}

export interface CarriedRun {
  readonly found: StoredRun;
  readonly begun: BegunRun;
}

export type Stopped = () => Promise<'stopped' | 'killed'>;

/** A run that is about to begin or to continue. */
export interface IntendedRun {
  readonly id: string;
  readonly cwd: string;
  readonly startedAt: number;
  readonly workflow: string;
  readonly isNew: boolean;
  readonly settings: Settings;
  /** The workflows that it can enter. */
  readonly refs: readonly string[];
  readonly library: WorkflowLibrary;
  readonly loose: LooseLibrary;
  /** The options of this command, with those of the config files. */
  readonly options: RunOptions;
  /** Only those of the command. */
  readonly given: RunOptions;
}

export interface PreparedRun {
  readonly notices: readonly Notice[];
  /** The things that the store keeps with a new run. */
  readonly kept?: () => Promise<KeptWithRun>;
  /** Lets the run begin or continue. From now on, the lease and the journal belong to it. */
  begin(run: Run, held: HeldRun): Promise<BegunRun>;
}

export interface HeldRun {
  readonly lease: Lease;
  readonly journal: OwnedJournal;
  /** The first inputs of a run that continues. */
  readonly first: readonly Input[];
  /** Whether the run waits for the deadline of a question (default), or leaves that to the caller. */
  readonly patient?: boolean;
  /** The workflows with accepted changes. */
  readonly accepted?: readonly string[];
  /** The first events of a new run, which are not shown yet. */
  readonly begun?: readonly Begun[];
}

/** A run that has begun or continues. */
export interface BegunRun {
  readonly run: Run;
  /** A rehearsal skips times. */
  readonly clock: Clock;
  /** Whether the words of its agents arrive in this process. */
  readonly isLive: boolean;
  /** Answers instead of a person, in a rehearsal. */
  readonly rehearsed?: Person | undefined;
  readonly notices: readonly Notice[];
  /** Must be called once, unless workers execute the run. Resolves when the run has ended or was left. */
  attend(attendant: Attendant): Promise<AttendedRun>;
}

export interface AttendedRun {
  readonly run: Run;
  /** A stop waits for a worker. */
  readonly isStopAwaited?: boolean;
}
