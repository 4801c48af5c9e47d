/** Carries one run at the terminal: with signals, a person, reports and an exit code. */
import { hostname } from 'node:os';
import { type Begun, carryRun } from '../host/carry-run.ts';
import { skippingClock } from '../host/skipping-clock.ts';
import type { Input } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import { publishNow } from '../observe/publish-now.ts';
import type { Lease, OwnedJournal, WorkflowLibrary } from '../ports.ts';
import { attendance } from './attendance.ts';
import { exitCode } from './exit-code.ts';
import { observerFailed, type Reported, reporters } from './reporters.ts';
import { stopOnSignals } from './signals.ts';
import type { Surroundings } from './surroundings.ts';
import { stderr, stdout } from './terminal.ts';
import type { ChosenExecutors } from './wire.ts';
import { runWorld } from './world.ts';

export interface AtTerminal extends Omit<Reported, 'workspace'> {
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
export async function runAtTerminal(
  run: Run,
  first: readonly Input[],
  parts: AtTerminal,
): Promise<number> {
  const { around, lease, library, journal, executors, options, begun, patient = true } = parts;
  const { newId, store } = around;
  const workspace = around.workspace(run.id);
  const rehearsal = executors.rehearsal && {
    replies: executors.rehearsal.replies,
    clock: skippingClock(around.clock, run.updatedAt),
  };
  const clock = rehearsal?.clock ?? around.clock;
  const { person, observers } = attendance({ clock, rehearsal, options, patient });
  const report = (text: string) =>
    stderr.line({ at: clock.now(), who: 'run', tone: 'warning', text }, options);
  let ended: Run;
  try {
    const carried = await carryRun(run, first, {
      ...{ library, executors, journal, clock, newId, person, patient },
      confirm: lease.confirm,
      world: await runWorld(run, library),
      folders: workspace,
      keeper: executors.keeper,
      ...(executors.worktrees && { worktrees: executors.worktrees }),
      mail: { mailbox: store.mailbox(run.id), pid: process.pid, report },
      stops: stopOnSignals,
      worker: `${hostname()}:${process.pid}`,
      observers: [
        ...reporters({ ...parts, workspace }),
        ...observers,
        ['The view of other processes', publishNow({ ...lease, clock: around.clock })],
      ],
      observerFailed,
      ...(begun && { begun }),
    });
    if (carried.kind === 'lost') throw carried.loss;
    ended = carried.run;
  } finally {
    await journal.close();
  }
  // Last, because a reader that does not read must not block anything else.
  if (ended.result !== undefined && !options.json) await stdout.result(ended.result);
  return exitCode(ended);
}
