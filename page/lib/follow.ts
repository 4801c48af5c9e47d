/**
 * Follows a stream of the server. When the connection breaks, it connects again and continues after
 * the last event that arrived. So nothing is lost, and the reader of the events sees none twice.
 */
import { ApiTrouble, request, type Trouble } from './api.ts';
import { type ServerEvent, ServerEventReader } from './server-events.ts';
import { tokenHeld } from './session.ts';

export type Connection =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open' }
  /** Not the run, only the way to it. */
  | { readonly kind: 'lost'; readonly retryAt: number }
  /** The tab has no valid token. The stream waits for one, and sends nothing until then. */
  | { readonly kind: 'signed-out'; readonly trouble: Trouble }
  /** To connect again would not help. */
  | { readonly kind: 'refused'; readonly trouble: Trouble };

export interface Followed {
  /** The address that continues after what has arrived. */
  readonly address: () => string;
  /** `end`: nothing more will come. */
  readonly onEvent: (event: ServerEvent) => 'end' | undefined;
  readonly onConnection: (connection: Connection) => void;
}

export interface World {
  readonly open: (address: string, signal: AbortSignal) => Promise<AsyncIterable<string>>;
  /** Resolves after so many ms, or when the signal ends the wait. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Resolves when the tab has a token, or when the signal ends the wait. */
  readonly tokenHeld: (signal: AbortSignal) => Promise<void>;
  readonly now: () => number;
}

/** Gives the function that ends it. */
export function follow(followed: Followed, world: World = browser): () => void {
  const ending = new AbortController();
  void connectAgainAndAgain(followed, world, ending.signal);
  return () => ending.abort();
}

async function connectAgainAndAgain(
  { address, onEvent, onConnection }: Followed,
  world: World,
  signal: AbortSignal,
): Promise<void> {
  let pause = FIRST_PAUSE;
  while (!signal.aborted) {
    onConnection({ kind: 'connecting' });
    try {
      const chunks = await world.open(address(), signal);
      onConnection({ kind: 'open' });
      const reader = new ServerEventReader();
      for await (const chunk of chunks) {
        pause = FIRST_PAUSE;
        if (signal.aborted) return;
        for (const event of reader.read(chunk)) {
          if (onEvent(event) === 'end') return;
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiTrouble && isFinal(error)) {
        onConnection({ kind: 'refused', trouble: error.trouble });
        return;
      }
      if (error instanceof ApiTrouble && error.isSignedOut) {
        onConnection({ kind: 'signed-out', trouble: error.trouble });
        await world.tokenHeld(signal);
        pause = FIRST_PAUSE;
        continue;
      }
    }
    if (signal.aborted) return;
    onConnection({ kind: 'lost', retryAt: world.now() + pause });
    await world.wait(pause, signal);
    pause = Math.min(LONGEST_PAUSE, pause * 2);
  }
}

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 8_000;

/** A server that starts or is busy answers with 5xx, or not at all. */
const isFinal = ({ status, isSignedOut }: ApiTrouble) =>
  status >= 400 && status < 500 && !isSignedOut;

/** The server sends a heartbeat more often than this. Silence means that the connection is gone. */
const LONGEST_SILENCE = 45_000;

const browser: World = {
  async open(address, signal) {
    const attempt = new AbortController();
    const abort = () => attempt.abort();
    signal.addEventListener('abort', abort, { once: true });
    let watchdog = setTimeout(abort, LONGEST_SILENCE);
    const response = await request(address, {
      signal: attempt.signal,
      headers: { accept: 'text/event-stream' },
      cache: 'no-store',
    });
    const body = response.body;
    if (!body) throw new ApiTrouble(0, { code: 'empty', message: 'No stream.', remedy: '' });
    async function* chunks(from: ReadableStream<Uint8Array>) {
      const reader = from.getReader();
      const decoder = new TextDecoder();
      try {
        for (;;) {
          clearTimeout(watchdog);
          watchdog = setTimeout(abort, LONGEST_SILENCE);
          const { done, value } = await reader.read();
          if (done) return;
          yield decoder.decode(value, { stream: true });
        }
      } finally {
        clearTimeout(watchdog);
        signal.removeEventListener('abort', abort);
        attempt.abort();
      }
    }
    return chunks(body);
  },
  wait: (ms, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      // The network is back, so there is no reason to wait longer.
      addEventListener('online', () => resolve(), { once: true, signal });
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    }),
  tokenHeld,
  now: () => Date.now(),
};
