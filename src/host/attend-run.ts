/**
 * Attends a run that another process works on. An attendant is a client of the store: it follows the
 * events, shows them, asks the person, and posts answers and stops.
 */

import type { Input } from '../model/input.ts';
import { messageOf } from '../model/message-of.ts';
import { doingByAgent } from '../model/now.ts';
import type { Clock, Observer, RunStore, StoredRun } from '../ports.ts';
import { askPerson, requestOf } from './ask-person.ts';
import type { Attendant } from './attendant.ts';
import { followRun, NO_WORKER } from './follow-run.ts';
import { observeAll } from './observe-all.ts';
import { openRun } from './open-run.ts';
import { openItems } from './questions.ts';
import { reply } from './reply.ts';

export interface AttendedElsewhere {
  readonly store: RunStore;
  readonly clock: Clock;
  readonly id: string;
  /** The first event that is news for the person. Earlier ones are not shown. */
  readonly from: number;
  /** The newest event when the attendance began. Questions that were open then are asked. */
  readonly known: number;
  /** The name of the person, for the record of a decision. */
  readonly userName?: string | undefined;
}

export interface Attended {
  /** The run when it ended, when its process had ended, or when the person left. */
  readonly found: StoredRun;
  /** A stop waits for a worker, because none executes the run. */
  readonly isStopAwaited: boolean;
}

export async function attendRun(
  { store, clock, id, from, known, userName }: AttendedElsewhere,
  attendant: Attendant,
): Promise<Attended> {
  const { person, warn } = attendant;
  const observer = observeAll(attendant.observers, attendant.observerFailed);
  const over = new AbortController();
  let asking: Observer | undefined;
  let isUnattended = false;
  let isStopAsked = false;
  let isStopAwaited = false;
  // No worker acts on a stop, so nothing would happen here.
  const leaveStop = () => {
    if (!isUnattended || !isStopAsked) return;
    isStopAwaited = true;
    over.abort();
  };
  const failed = (error: unknown) => warn(messageOf(error));
  const endStops = attendant.stops((how) => {
    if (how === 'leave') return over.abort();
    const asked = store.mailbox(id).post({ kind: 'stop', how, pid: 0 });
    asked.then(() => {
      isStopAsked = true;
      leaveStop();
    }, failed);
  });
  const showing = watchDoing(store, id, over.signal, attendant);
  try {
    const unattended = (isMissing: boolean) => {
      isUnattended = isMissing;
      if (isMissing) warn(NO_WORKER);
      leaveStop();
    };
    const following = { signal: over.signal, unattended };
    for await (const [event, before, after] of followRun({ store, clock }, id, following)) {
      if (event.seq >= from) observer.event(event, before, after);
      asking?.event(event, before, after);
      // Earlier questions may be settled.
      if (!asking && event.seq >= known) {
        const open = (await openItems(store, after)).filter(({ isAnswered }) => !isAnswered);
        const asked = open.map((item) =>
          item.kind === 'request'
            ? requestOf(item.agent, item.step, item)
            : { ...item, id: item.agent },
        );
        // An answer that was not used is reported.
        asking = askPerson(person, id, asked, (input) => void give(input).catch(failed), clock);
      }
      if (event.seq < known || after.status.kind !== 'ended') continue;
      // A process that already has an ended run is about to resume it.
      if (event.seq > known || !(await store.owner(id))) break;
    }
    const found = await openRun(store, id);
    return { found, isStopAwaited };
  } finally {
    over.abort();
    endStops();
    person.close?.();
    await showing;
    await observer.close();
  }

  async function give(input: Input): Promise<void> {
    const { at: _, ...said } = input;
    if (said.kind === 'person-answered') await reply(store, id, { ...said, kind: 'answer' });
    if (said.kind === 'permission-decided')
      await reply(store, id, { ...said, kind: 'permission', by: userName });
  }
}

async function watchDoing(
  store: RunStore,
  id: string,
  signal: AbortSignal,
  { doing }: Attendant,
): Promise<void> {
  if (!doing) return;
  for await (const now of store.watchNow(id, signal)) doing(doingByAgent(now));
}
