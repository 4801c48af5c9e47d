/** Works on one run in this process: from the lock to the exit code. */
import { type Mailbox, openMailbox } from '../journal/mailbox.ts';
import type { Project, RunPaths } from '../journal/project.ts';
import { freeze } from '../journal/state-file.ts';
import { stateWriter } from '../journal/state-writer.ts';
import { watchOwnership } from '../journal/watch-ownership.ts';
import type { RunEvent } from '../model/event.ts';
import type { Input } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import { unreachable } from '../model/unreachable.ts';
import { countdown } from '../observe/countdown.ts';
import type { Journal, WorkflowLibrary } from '../ports.ts';
import { Inbox } from '../run/inbox.ts';
import { runLoop } from '../run/loop.ts';
import { Steps } from '../run/steps.ts';
import { crash, crashingIfInherited } from './lost-run.ts';
import type { RunOptions } from './options.ts';
import { questionAtTerminal } from './question.ts';
import { rehearsedPerson } from './rehearsed-person.ts';
import { observeAll, reporters } from './reporters.ts';
import { clock, disk, inboxOf, newId } from './store.ts';
import { stderr, stdout } from './terminal.ts';
import { type Executors, keeperFor } from './wire.ts';
import { runWorld } from './world.ts';

export interface RunProcess {
  readonly project: Project;
  readonly paths: RunPaths;
  readonly library: WorkflowLibrary;
  readonly journal: Journal & { confirm(): Promise<void>; close(): Promise<void> };
  readonly executors: Executors;
  readonly options: RunOptions;
  /** Takes the report for the log file, if there is one. */
  readonly log: ((text: string) => void) | undefined;
  /** The events by which the run has just begun, to be shown. */
  readonly begun?: readonly {
    readonly event: RunEvent;
    readonly before: Run | undefined;
    readonly after: Run;
  }[];
  /** Whether it may wait for the deadline of a question (default), or leaves that to its caller. */
  readonly patient?: boolean;
}

/** Takes a run on from where it is, until it ends; gives the exit code. */
export async function workOn(
  run: Run,
  first: readonly Input[],
  parts: RunProcess,
): Promise<number> {
  const { paths, library, journal, executors, options } = parts;
  const inbox = new Inbox<Input>();
  for (const input of first) inbox.put(input);

  const stateFile = stateWriter({
    disk,
    path: paths.stateFile,
    clock,
    freeze,
    confirm: () => journal.confirm(),
    report: () => {},
  });
  const put = (input: Input) => inbox.put(input);
  const isPatient = parts.patient ?? true;
  const person = executors.rehearsal
    ? rehearsedPerson(executors.rehearsal.replies, put)
    : questionAtTerminal(options, put, () => waiting.look());
  for (const [id, { status }] of run.agents) if (status.kind === 'asking') person.ask(id, status);
  const waiting = countdown(
    clock,
    (line) => stderr.line(line, options),
    () => isPatient && !person.isThere(),
  );
  const observer = observeAll([
    ...reporters(run, parts),
    ...(options.json || options.quiet ? [] : [['The countdown', waiting] as const]),
    [
      'The state file',
      { event: (_event, _before, after) => stateFile.update(after), live: () => {} },
    ],
    ['The person at the terminal', person.observer],
  ]);
  for (const { event, before, after } of parts.begun ?? []) observer.event(event, before, after);
  const forgetSignals = stopOnSignals((how) => inbox.put({ kind: 'stop', at: clock.now(), how }));
  let mailbox: Mailbox | undefined;
  const endWatch = watchOwnership(
    clock,
    () => journal.confirm(),
    (loss) => (loss.leavesSteps ? crash(loss) : inbox.fail(loss)),
  );
  let ended: Run;
  try {
    mailbox = await openMailbox({
      inbox: inboxOf(run.id, paths),
      pid: process.pid,
      clock,
      journal: crashingIfInherited(journal),
      put,
      report: (text) =>
        stderr.line({ at: clock.now(), who: 'run', tone: 'warning', text }, options),
    });
    ended = await runLoop(run, inbox, {
      journal: mailbox.journal,
      clock,
      observer,
      steps: new Steps(inbox, {
        library,
        executors,
        endStrays: executors.endStrays,
        keeper: keeperFor(paths),
        world: await runWorld(run, library),
        folders: paths.folders,
        clock,
        live: observer.live,
      }),
      newId,
      attended: person.isThere,
      patient: isPatient,
    });
  } finally {
    endWatch();
    mailbox?.close();
    person.close();
    waiting.close();
    await stateFile.close();
    await journal.close();
    forgetSignals();
  }
  // Last of all: a reader that does not read must not keep anything else from being done.
  if (ended.result !== undefined && !options.json) await stdout.result(ended.result);
  return exitCode(ended);
}

export function exitCode({ status }: Run): number {
  if (status.kind !== 'ended') return 1;
  switch (status.outcome) {
    case 'completed':
      return 0;
    case 'failed':
      return 1;
    case 'waiting':
    case 'paused':
      return 2;
    case 'stopped: budget':
    case 'stopped: iterations':
      return 3;
    case 'interrupted':
      return 130;
    default:
      return unreachable(status.outcome);
  }
}

/** A first Ctrl-C lets running steps finish. Supervisors and a closed terminal are in a hurry. */
function stopOnSignals(stop: (how: 'drain' | 'now') => void): () => void {
  let interrupts = 0;
  const onInterrupt = () => stop(interrupts++ === 0 ? 'drain' : 'now');
  const onHurry = () => stop('now');
  process.on('SIGINT', onInterrupt);
  process.on('SIGTERM', onHurry);
  process.on('SIGHUP', onHurry);
  return () => {
    process.off('SIGINT', onInterrupt);
    process.off('SIGTERM', onHurry);
    process.off('SIGHUP', onHurry);
  };
}
