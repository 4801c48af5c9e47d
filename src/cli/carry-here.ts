/** Carries one run in this process: with its signals, its messages and its executors. */
import { hostname } from 'node:os';
import { self } from '../execute/process/index.ts';
import { type Begun, carryRun } from '../host/carry-run.ts';
import type { NamedObserver } from '../host/observe-all.ts';
import type { Input } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import { publishNow } from '../observe/publish-now.ts';
import type { Clock, Lease, OwnedJournal, Person, WorkflowLibrary } from '../ports.ts';
import { notices } from './notices.ts';
import { observerFailed, type Reported } from './reporters.ts';
import { stopOnSignals } from './signals.ts';
import type { Surroundings } from './surroundings.ts';
import { telemetry } from './telemetry.ts';
import type { ChosenExecutors } from './wire.ts';
import { runWorld } from './world.ts';

/** The parts that a command has prepared for a run. */
export interface CarriedHere extends Omit<Reported, 'workspace'> {
  readonly around: Surroundings;
  readonly lease: Pick<Lease, 'confirm' | 'publish'>;
  readonly library: WorkflowLibrary;
  readonly journal: OwnedJournal;
  readonly executors: ChosenExecutors;
  /** The first events of a new run, which are not shown yet. */
  readonly begun?: readonly Begun[];
  /** Whether to wait for the deadline of a question (default), or to leave that to the caller. */
  readonly patient?: boolean;
}

/** Continues a run until it ends, and gives the exit code. */
export type CarryRun = (run: Run, first: readonly Input[], parts: CarriedHere) => Promise<number>;

/** The observers of the run, and the person who answers its questions. */
export interface Attended {
  readonly clock: Clock;
  readonly person: Person;
  readonly observers: readonly NamedObserver[];
  /** Shows a warning about the messages to the run. */
  readonly report: (text: string) => void;
}

export async function carryHere(
  run: Run,
  first: readonly Input[],
  parts: CarriedHere,
  { clock, person, observers, report }: Attended,
): Promise<Run> {
  const { around, lease, library, journal, executors, begun, patient = true } = parts;
  const { newId, store } = around;
  const { pid, started } = self();
  try {
    const carried = await carryRun(run, first, {
      ...{ library, executors, clock, newId, person, patient },
      journal,
      confirm: lease.confirm,
      world: await runWorld(run, library, around.workspace(run.id).tasks),
      folders: around.workspace(run.id),
      keeper: executors.keeper,
      ...(executors.worktrees && { worktrees: executors.worktrees }),
      ...(executors.files && { files: executors.files }),
      mail: { mailbox: store.mailbox(run.id), pid, started, report },
      stops: stopOnSignals,
      worker: `${hostname()}:${pid}`,
      observers: [
        ...observers,
        ...notices(run, parts),
        ...(await telemetry(run, around.clock)),
        ['The view of other processes', publishNow({ ...lease, clock: around.clock })],
      ],
      observerFailed,
      ...(begun && { begun }),
    });
    if (carried.kind === 'lost') throw carried.loss;
    return carried.run;
  } finally {
    await journal.close();
  }
}
