/** Carries one run at the terminal: with its signals, its person, its reports, and an exit code. */
import { hostname } from 'node:os';
import { type Begun, carryRun } from '../host/carry-run.ts';
import type { Input } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import type { Lease, OwnedJournal, WorkflowLibrary } from '../ports.ts';
import { attendance } from './attendance.ts';
import { exitCode } from './exit-code.ts';
import { observerFailed, type Reported, reporters } from './reporters.ts';
import { stopOnSignals } from './signals.ts';
import type { Surroundings } from './surroundings.ts';
import { stderr, stdout } from './terminal.ts';
import { type ChosenExecutors, keeperFor } from './wire.ts';
import { runWorld } from './world.ts';

export interface AtTerminal extends Omit<Reported, 'workspace'> {
  readonly around: Surroundings;
  readonly lease: Pick<Lease, 'confirm'>;
  readonly library: WorkflowLibrary;
  readonly journal: OwnedJournal;
  readonly executors: ChosenExecutors;
  /** The events by which the run has just begun, to be shown. */
  readonly begun?: readonly Begun[];
  /** Whether it may wait for the deadline of a question (default), or leaves that to its caller. */
  readonly patient?: boolean;
}

/** Continues a run from where it is, until it ends; gives the exit code. */
export async function runAtTerminal(
  run: Run,
  first: readonly Input[],
  parts: AtTerminal,
): Promise<number> {
  const { around, lease, library, journal, executors, options, begun, patient = true } = parts;
  const { clock, newId, store } = around;
  const workspace = around.workspace(run.id);
  const { replies } = executors.rehearsal ?? {};
  const { person, observers } = attendance({ clock, options, replies, patient });
  const report = (text: string) =>
    stderr.line({ at: clock.now(), who: 'run', tone: 'warning', text }, options);
  let ended: Run;
  try {
    const carried = await carryRun(run, first, {
      ...{ library, executors, journal, clock, newId, person, patient },
      confirm: lease.confirm,
      world: await runWorld(run, library),
      folders: workspace,
      keeper: keeperFor(workspace),
      mail: { mailbox: store.mailbox(run.id), pid: process.pid, report },
      stops: stopOnSignals,
      worker: `${hostname()}:${process.pid}`,
      observers: [...reporters({ ...parts, workspace }), ...observers],
      observerFailed,
      ...(begun && { begun }),
    });
    if (carried.kind === 'lost') throw carried.loss;
    ended = carried.run;
  } finally {
    await journal.close();
  }
  // Last of all: a reader that does not read must not keep anything else from being done.
  if (ended.result !== undefined && !options.json) await stdout.result(ended.result);
  return exitCode(ended);
}
