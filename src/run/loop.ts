/**
 * INV-11: No step starts before its decision is on disk, and nothing is shown before it has happened.
 *
 * One loop, one wait. The loop takes all pending inputs, interprets them and journals the events.
 * Only then does it act on the events and show them.
 */
import type { Input } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import type { Clock, Journal, Observer } from '../ports.ts';
import { Alarm } from './alarm.ts';
import { type Decided, Decider } from './decider.ts';
import type { Inbox } from './inbox.ts';
import type { Steps } from './steps.ts';

export interface LoopPorts {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly observer: Observer;
  readonly steps: Steps;
  readonly newId: () => string;
  /** Whether a user may answer a question while the run waits. */
  readonly attended: () => boolean;
  /** Whether this process may wait for the deadline of a question. */
  readonly patient: boolean;
  /** The name of this process for the journal; absent if it is not recorded. */
  readonly worker?: string;
}

/**
 * Works on a run until it ends. Inputs that are already in the inbox, such as a resume, come first.
 */
export async function runLoop(initial: Run, inbox: Inbox<Input>, ports: LoopPorts): Promise<Run> {
  const { journal, clock, observer, steps, newId, attended, patient, worker } = ports;
  const decider = new Decider(steps.workflows, initial);
  const alarm = new Alarm(clock, inbox, decider.waits);

  try {
    alarm.ring();
    const first = decide(inbox.takeNow());
    await keep(first);
    // The settings of a resume also apply to the steps that are left, so they are adopted after it.
    await steps.adoptAll(initial, decider.run);
    carryOut(first);
    while (decider.run.status.kind !== 'ended') {
      const decided = decide(await inbox.take());
      const kept = keep(decided);
      for (const { event, after } of decided) steps.prepare(event, after);
      await kept;
      carryOut(decided);
    }
    return decider.run;
  } finally {
    alarm.cancel();
    await steps.close();
  }

  async function keep(decided: readonly Decided[]): Promise<void> {
    if (decided.length === 0) return;
    await journal.append(
      decided.map(({ event }) => event),
      decider.run,
    );
  }

  function carryOut(decided: readonly Decided[]): void {
    // The next steps begin before anything is shown, because showing takes time.
    for (const { event, after } of decided) steps.act(event, after);
    alarm.set();
    for (const { event, before, after } of decided) observer.event(event, before, after);
  }

  function decide(inputs: readonly Input[]): readonly Decided[] {
    return decider.decide(inputs, {
      at: clock.now(),
      newId,
      executors: steps.executors,
      workerFor: () => worker,
      attended: attended(),
      patient,
    });
  }
}
