import type { Workflows } from '../interpret/follow.ts';
import type { RunEvent } from '../model/event.ts';
import type { Input } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import type { Clock, Journal } from '../ports.ts';
import { Decider } from './decider.ts';
import type { Inbox } from './inbox.ts';
import type { Mail } from './mail.ts';
import type { Decision, HoldRun, TakenStep } from './turn.ts';

export interface AlonePorts {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly workflows: Workflows;
  /** Absent if no other process can reach the run. */
  readonly mail?: WaitingMail | undefined;
  /** The name of this process for the journal; absent if it is not recorded. */
  readonly worker?: string | undefined;
}

/** The mail of a run. New mail wakes the inbox. */
export interface WaitingMail {
  waiting(): readonly Mail[];
  /** The events that followed from it are stored. */
  settle(mail: readonly Mail[], events: readonly RunEvent[]): Promise<void>;
}

/**
 * Turns of a process that has the run for itself. So there are no news, all steps begin here, and the
 * time of the next turn is a timer.
 */
export function holdAlone(
  initial: Run,
  inbox: Inbox<Input>,
  { workflows, journal, clock, mail, worker }: AlonePorts,
): { readonly hold: HoldRun; close(): void } {
  const decider = new Decider(workflows, initial);
  let hasBegun = false;
  let earliest = 0;
  let cancel = () => {};

  const wakeAt = (time: number | undefined) => {
    cancel();
    if (time === undefined) return;
    cancel = clock.at(time, () => {
      // A timer may be a little early.
      earliest = time;
      inbox.wake();
    });
  };
  const store = async ({ decided, run, settled, nextLook }: Decision) => {
    const events = decided.map(({ event }) => event);
    const stored = events.length > 0 ? journal.append(events, run) : undefined;
    wakeAt(nextLook);
    await stored;
    if (settled.length > 0) await mail?.settle(settled, events);
  };
  return {
    hold(inputs, decide) {
      const isFirst = !hasBegun;
      const isSuccession = isFirst && initial.steps > 0;
      hasBegun = true;
      return decide({
        ...{ decider, inputs, worker, isSuccession, store, news: [] },
        // The steps of an earlier process are adopted before anything else.
        isCertain: !isSuccession,
        at: Math.max(clock.now(), earliest),
        mail: mail?.waiting() ?? [],
        startsHere: () => true,
        taken: () => (isSuccession ? leftIn(initial) : []),
        waiting: async () => [],
      });
    },
    close: () => cancel(),
  };
}

/** The steps that an earlier process has left. */
function leftIn(run: Run): readonly TakenStep[] {
  return [...run.agents].flatMap(([agent, { status }]) =>
    status.kind === 'running'
      ? [{ agent, step: status.step, kind: status.session ? 'prompt' : 'script', how: 'adopt' }]
      : [],
  );
}
