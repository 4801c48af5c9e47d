/**
 * Server-sent events. An event is made only when the client has taken the one before it. So a client
 * that reads slowly costs no memory. A client that has stopped reading is let go.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { UserError } from '../model/user-error.ts';
import { type Pack, plain } from './packed.ts';
import { errorBodyOf } from './problems.ts';

export interface ServerEvent {
  /** Absent for plain messages. */
  readonly event?: string;
  readonly id?: string;
  readonly data: unknown;
}

export type EventSource = (signal: AbortSignal) => AsyncGenerator<ServerEvent>;

/** A number of streams that are open at the same time. */
export class Streams {
  readonly #most: number;
  readonly #stallMs: number;
  readonly #open = new Set<AbortController>();

  constructor(most: number, stallMs: number) {
    this.#most = most;
    this.#stallMs = stallMs;
  }

  get isFull(): boolean {
    return this.#open.size >= this.#most;
  }

  get size(): number {
    return this.#open.size;
  }

  open(source: EventSource, pack: Pack = plain()): ReadableStream<Uint8Array> {
    const over = new AbortController();
    const events = source(over.signal);
    let stall: NodeJS.Timeout | undefined;
    this.#open.add(over);
    const end = () => {
      clearTimeout(stall);
      this.#open.delete(over);
      over.abort();
    };
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          clearTimeout(stall);
          const { done, value } = await events.next().catch((error) => {
            end();
            throw error;
          });
          if (done) {
            end();
            return controller.close();
          }
          controller.enqueue(await pack(eventText(value)));
          stall = setTimeout(() => {
            end();
            controller.error(new Error('The client has stopped reading.'));
          }, this.#stallMs);
        },
        cancel: async () => {
          end();
          await events.return(undefined);
        },
      },
      { highWaterMark: 0 },
    );
  }

  close(): void {
    for (const over of this.#open) over.abort();
  }
}

/**
 * The events, with a heartbeat whenever none has come for a while. An error that the user can
 * understand is the last event.
 */
export async function* kept(events: AsyncGenerator<ServerEvent>): AsyncGenerator<ServerEvent> {
  try {
    let next = events.next();
    for (;;) {
      const timer = new AbortController();
      const beat = delay(HEARTBEAT_MS, undefined, { signal: timer.signal }).catch(() => undefined);
      const first = await Promise.race([next, beat]);
      timer.abort();
      if (first?.done) return;
      yield first?.value ?? { event: 'heartbeat', data: { at: new Date().toISOString() } };
      if (first) next = events.next();
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    yield { event: 'gone', data: errorBodyOf(error) };
  } finally {
    await events.return(undefined);
  }
}

const HEARTBEAT_MS = 10_000;

/** JSON has no line feed, and names and ids are our own. So no text can add a line. */
export function eventText({ event, id, data }: ServerEvent): string {
  const lines = [
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    `data: ${JSON.stringify(data)}`,
  ];
  return `${lines.join('\n')}\n\n`;
}

/** Calls back with each news. A store that cannot be followed says so when it is read. */
export async function ringWith(news: AsyncIterable<void>, ring: () => void): Promise<void> {
  try {
    for await (const _ of news) ring();
  } catch {}
}

/** Something to wait for: the next change, a time or the end. */
export class Bell {
  readonly #signal: AbortSignal;
  #hasRung = false;
  #resolve: (() => void) | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this.ring, { once: true });
  }

  readonly ring = (): void => {
    this.#hasRung = true;
    this.#resolve?.();
  };

  /** Resolves at the next ring, immediately if it has rung since the last wait, and after a time. */
  async wait(ms?: number): Promise<void> {
    if (!this.#hasRung && !this.#signal.aborted) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#resolve = resolve;
        if (ms !== undefined) timer = setTimeout(resolve, ms);
      });
      clearTimeout(timer);
    }
    this.#hasRung = false;
    this.#resolve = undefined;
  }
}
