/** The stream of a run: its events, what its agents do now, and whether a process works on it. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { statusForm } from '../look/run-form.ts';
import type { RunStanding } from '../look/run-shape.ts';
import type { JournaledEvent } from '../model/event.ts';
import type { Now } from '../model/now.ts';
import { pidOf } from '../model/pid-of.ts';
import { UserError } from '../model/user-error.ts';
import type { RunOwner, RunStore } from '../ports.ts';
import type { FollowedRun } from './followed-run.ts';
import { Bell, type ServerEvent } from './sse.ts';

export interface RunStream {
  readonly store: RunStore;
  readonly id: string;
  readonly followed: FollowedRun;
  readonly after: number;
  readonly now: () => number;
}

export async function* runEvents(
  stream: RunStream,
  signal: AbortSignal,
): AsyncGenerator<ServerEvent> {
  const { store, id, followed } = stream;
  const bell = new Bell(signal);
  const endListening = followed.onChange(bell.ring);
  const doing = watchDoing(store, id, signal, bell.ring);
  const standing = new Standing(stream);
  let position = stream.after;
  let heartbeatAt = stream.now() + HEARTBEAT_MS;
  try {
    while (!signal.aborted) {
      // Events that are read together are sent together.
      await nextTurn();
      const recent = followed.recentAfter(position);
      if (recent === undefined) {
        for await (const batch of batches(store.events(id, position))) {
          yield batchEvent(batch);
          position = batch.at(-1)?.seq ?? position;
          if (signal.aborted) return;
        }
        continue;
      }
      if (recent.length > 0) {
        const batch = recent.slice(0, MOST_EVENTS).map(({ event }) => event);
        yield batchEvent(batch);
        position = batch.at(-1)?.seq ?? position;
        continue;
      }
      const changed = await standing.changed();
      if (changed) yield { event: 'standing', data: changed };
      const newer = doing.take();
      if (newer) yield { event: 'now', data: newer.now ?? null };
      if (stream.now() >= heartbeatAt) {
        yield { event: 'heartbeat', data: { at: new Date(stream.now()).toISOString() } };
        heartbeatAt = stream.now() + HEARTBEAT_MS;
      }
      if (followed.trouble) throw followed.trouble.error;
      if (followed.run.seq === position) await bell.wait(LOOK_EVERY_MS);
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { code, message, remedy } = error;
    yield { event: 'gone', data: { error: { code, message, remedy } } };
  } finally {
    endListening();
  }
}

export const MOST_EVENTS = 500;
const HEARTBEAT_MS = 10_000;
/** The end of a process changes no file, so it is looked for. */
const LOOK_EVERY_MS = 1_000;

function batchEvent(batch: readonly JournaledEvent[]): ServerEvent {
  return { id: String(batch.at(-1)?.seq), data: batch };
}

async function* batches(
  events: AsyncIterable<JournaledEvent>,
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

/** The newest publication that was not taken. */
function watchDoing(store: RunStore, id: string, signal: AbortSignal, ring: () => void) {
  let waiting: { readonly now: Now | undefined } | undefined;
  const watch = async () => {
    for await (const now of store.watchNow(id, signal)) {
      waiting = { now };
      ring();
    }
  };
  // The stream of events reports what is wrong with a run.
  watch().catch(() => {});
  return {
    take() {
      const taken = waiting;
      waiting = undefined;
      return taken;
    },
  };
}

/** The facts about a run that are no events. */
class Standing {
  readonly #stream: RunStream;
  #last = '';
  #owner: RunOwner | undefined;
  #lookedAt = 0;

  constructor(stream: RunStream) {
    this.#stream = stream;
  }

  /** Undefined if nothing has changed. */
  async changed(): Promise<RunStanding | undefined> {
    const { store, id, followed, now } = this.#stream;
    if (now() - this.#lookedAt >= LOOK_EVERY_MS) {
      this.#owner = await store.owner(id);
      this.#lookedAt = now();
    }
    const status = statusForm({ kind: 'stored', run: followed.run, owner: this.#owner });
    const standing = { ...status, pid: pidOf(this.#owner) };
    const text = JSON.stringify(standing);
    if (text === this.#last) return undefined;
    this.#last = text;
    return { ...standing, position: followed.run.seq };
  }
}
