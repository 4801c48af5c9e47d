/**
 * INV-13: A process that has lost its run changes nothing more. How a run ended is data.
 *
 * Carries a run: the loop with everything around it. All of that comes from outside, so a terminal, a
 * detached process and a test carry a run in the same way.
 *
 * If another process has taken the run and adopted its steps, they are left to it; otherwise they are
 * stopped. Streams, signals and exit codes belong to the caller.
 */
import type { RunEvent } from '../model/event.ts';
import type { Input } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import { RunLost } from '../model/run-lost.ts';
import type { Journal, Person, StopSource } from '../ports.ts';
import { holdAlone } from '../run/hold-alone.ts';
import { Inbox } from '../run/inbox.ts';
import { Steps, type StepsPorts } from '../run/steps.ts';
import { takeTurns } from '../run/turn.ts';
import { askPerson, NOBODY, openQuestions } from './ask-person.ts';
import { type Delivery, type DeliveryPorts, deliverMessages } from './deliver-messages.ts';
import { type NamedObserver, observeAll } from './observe-all.ts';
import { watchOwnership } from './watch-ownership.ts';

export interface Carrying extends Omit<StepsPorts, 'place' | 'live' | 'isOver'> {
  readonly journal: Journal;
  /** Rejects with RunLost when another process has the run; absent for a run that none can take. */
  readonly confirm?: () => Promise<void>;
  /** How other processes reach the run; absent if none can. */
  readonly mail?: Omit<DeliveryPorts, 'wake'>;
  readonly newId: () => string;
  readonly observers: readonly NamedObserver[];
  /** An observer has failed, and gets nothing more. */
  readonly observerFailed: (name: string, error: unknown) => void;
  readonly person?: Person;
  readonly stops?: StopSource;
  /** Whether it may wait for the deadline of a question (default), or leaves that to its caller. */
  readonly patient?: boolean;
  /** The events by which the run has just begun, to be shown. */
  readonly begun?: readonly Begun[] | undefined;
  readonly inbox?: Inbox<Input>;
  /** The name of this process, for the journal; absent if it does not matter. */
  readonly worker?: string;
}

export interface Begun {
  readonly event: RunEvent;
  readonly before: Run | undefined;
  readonly after: Run;
}

export type CarriedRun =
  | { readonly kind: 'ended'; readonly run: Run }
  /** The loss says whether its steps were stopped or left. */
  | { readonly kind: 'lost'; readonly loss: RunLost };

/** Continues a run from where it is, beginning with the given inputs, until it ends or is lost. */
export async function carryRun(
  run: Run,
  first: readonly Input[],
  carrying: Carrying,
): Promise<CarriedRun> {
  const { executors, journal, confirm, mail, clock, newId } = carrying;
  const { person = NOBODY, patient = true } = carrying;
  const inbox = carrying.inbox ?? new Inbox<Input>();
  const put = (input: Input) => inbox.put(input);
  for (const input of first) put(input);

  const asking = askPerson(person, run.id, openQuestions(run, first), put, clock);
  const observers = [...carrying.observers, ['The person', asking] as const];
  const observer = observeAll(observers, carrying.observerFailed);
  for (const { event, before, after } of carrying.begun ?? []) observer.event(event, before, after);

  const endStops = carrying.stops?.((how, why) => put({ kind: 'stop', at: clock.now(), how, why }));
  const lose = (loss: RunLost) => {
    if (loss.leavesSteps) executors.leave?.();
    inbox.fail(loss);
  };
  const endWatch = confirm && watchOwnership(clock, confirm, lose);
  let delivery: Delivery | undefined;
  try {
    delivery = mail && (await deliverMessages({ ...mail, wake: () => inbox.wake() }));
    const { library, ground, folders, kept, keeper, worktrees, files } = carrying;
    const { live } = observer;
    const steps = new Steps(inbox, {
      ...{ library, executors, ground, folders, kept, keeper, worktrees, files, clock, live },
    });
    const alone = holdAlone(run, inbox, {
      ...{ workflows: steps.workflows, journal: losing(journal, lose), clock },
      ...{ mail: delivery, worker: carrying.worker },
    });
    try {
      const { hold } = alone;
      const ports = { hold, steps, observer, newId, patient, attended: () => person.isPresent() };
      return { kind: 'ended', run: await takeTurns(ports, inbox) };
    } finally {
      alone.close();
      await steps.close();
    }
  } catch (error) {
    if (error instanceof RunLost) return { kind: 'lost', loss: error };
    throw error;
  } finally {
    endWatch?.();
    delivery?.close();
    person.close?.();
    await observer.close();
    endStops?.();
  }
}

/** An append that finds the run lost lets go of the steps before the loop stops them. */
function losing(journal: Journal, lose: (loss: RunLost) => void): Journal {
  return {
    append: (events, after) =>
      journal.append(events, after).catch((error) => {
        if (error instanceof RunLost) lose(error);
        throw error;
      }),
  };
}
