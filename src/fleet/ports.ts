/** The ports of a worker. */
import type { Run } from '../model/run.ts';
import type { Observer, StepKey, StepKind } from '../ports.ts';
import type { Database, Transaction } from '../postgres/database.ts';
import type { OpenLetter } from '../postgres/mailbox.ts';
import type { Notices } from '../postgres/notices.ts';
import type { RunParts, RunRow } from '../postgres/run-row.ts';
import type { Heads } from '../postgres/seen-heads.ts';
import type { StepsPorts } from '../run/steps.ts';
import type { Traffic } from './worker-table.ts';

export interface FleetPorts {
  readonly database: Database;
  readonly runs: RunParts;
  readonly heads: Heads;
  readonly openLetter: OpenLetter;
  readonly notices: Notices;
  readonly worker: WorkerFacts;
  /** How many steps may run at the same time on all workers. */
  readonly limitsForAll: Partial<Limits>;
  /** How long others wait for a heartbeat before they take the steps of this worker. */
  readonly leaseMs: number;
  readonly newId: () => string;
  readonly recovery: Recovery;
  /** Starts a guard in place of that of an earlier process. */
  readonly guard: () => Promise<Guard>;
  /** Everything that is needed to execute steps of a run here. */
  openRun(run: Run, row: RunRow, keep: KeepWithStep): Promise<RunPorts>;
  /** Shows other processes what the agents of a run are doing on a worker. */
  observer(run: string, worker: string): Observer;
  /** Reads what a step said when it has ended, and gives the statements that keep it in the database. */
  recordOf(run: string, step: StepKey, kind: StepKind): Promise<Store | undefined>;
  /** The runs of which anything is left in the folder of this worker. */
  leftRuns(): Promise<readonly string[]>;
  /** Ends all processes of these runs on this machine. */
  endProcesses(runs: readonly string[], graceMs: number): Promise<void>;
  /** The lease was renewed, and this long passed until the answer. */
  onRenewed?(way: Way): void;
  /** Shows a line to the user. */
  report(text: string): void;
}

/** The way of a worker to its database. */
export interface Way extends Traffic {
  readonly latencyMs: number;
}

export interface WorkerFacts {
  readonly name: string;
  readonly host: string;
  readonly pid: number;
  /** The id of the folder in which it keeps its steps. Only one worker at a time uses a folder. */
  readonly place: string;
  readonly limits: Limits;
}

/** How many steps of a kind may run at the same time on one worker. */
export interface Limits {
  readonly prompts: number;
  readonly scripts: number;
}

/** Stores something in a transaction of the caller. */
export type Store = (queries: Transaction) => void | Promise<void>;

/** Stores something in the transaction that stores the end of the step. */
export type KeepWithStep = (step: StepKey, store: Store) => void;

export interface RunPorts extends Omit<StepsPorts, 'clock' | 'live' | 'isOver'> {
  /** Loads the workflows that the run has read, also elsewhere. */
  load(run: Run): Promise<void>;
  /** All files of a workflow that this worker has read, and the path that contains them. */
  pack(ref: string): Promise<{ readonly container: string; readonly archive: Uint8Array }>;
}

/** Calls back every few seconds on one of all workers. */
export interface Recovery {
  /** Waits while the database has trouble, unless `isOver`. */
  start(worker: string, recover: () => Promise<void>, isOver: () => boolean): Promise<void>;
  /** Does not begin it again, and waits until it is done. */
  stop(): Promise<void>;
  /** Ends the connections. */
  close(): Promise<void>;
}

/**
 * A small process. When the lease of the worker is over, it ends the processes of the steps, even if the
 * worker is stopped or killed.
 */
export interface Guard {
  /** The lease was renewed. The time is that of `monotonicMs`. */
  renew(deadline: number): void;
  /** The worker executes steps of this run. */
  watch(run: string): void;
  /** No process of the run is left here. */
  unwatch(run: string): void;
  /** The worker ends its steps itself, and starts no others. */
  ending(): void;
  /** The worker has ended everything itself. */
  end(): void;
}
