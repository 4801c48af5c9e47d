/** The events of a run, and then each new one. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JournaledEvent } from '../model/event.ts';
import type { RunStore } from '../ports.ts';
import type { FollowedRun } from './followed-run.ts';
import { Bell, type ServerEvent } from './sse.ts';

export interface RunStream {
  readonly store: RunStore;
  readonly id: string;
  readonly followed: FollowedRun;
  readonly after: number;
}

export async function* runEvents(
  { store, id, followed, after }: RunStream,
  signal: AbortSignal,
): AsyncGenerator<ServerEvent> {
  const bell = new Bell(signal);
  const endListening = followed.onChange(bell.ring);
  let position = after;
  try {
    while (!signal.aborted) {
      // Events that are read together are sent together.
      await nextTurn();
      const recent = followed.recentAfter(position);
      for await (const batch of batches(
        recent?.map(({ event }) => event) ?? store.events(id, position),
      )) {
        yield { id: String(batch.at(-1)?.seq), data: batch };
        position = batch.at(-1)?.seq ?? position;
        if (signal.aborted) return;
      }
      if (followed.trouble) throw followed.trouble.error;
      if (followed.run.seq === position) await bell.wait();
    }
  } finally {
    endListening();
  }
}

export const MOST_EVENTS = 500;

async function* batches(
  events: AsyncIterable<JournaledEvent> | Iterable<JournaledEvent>,
): AsyncGenerator<readonly JournaledEvent[]> {
  let batch: JournaledEvent[] = [];
  for await (const event of events) {
    batch.push(event);
    if (batch.length < MOST_EVENTS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
