/**
 * News of the database, by LISTEN. A notice only says where to look. After a lost connection every
 * listener looks, so nothing is missed.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { CHANNEL } from './announcer.ts';
import type { Database } from './database.ts';
import { reasonOf } from './trouble.ts';

/** `gone`: the run was removed. `head`: a command has changed a run; see `announceHead`. */
export type NoticeKind = 'events' | 'mail' | 'now' | 'work' | 'gone' | 'head' | 'occasions';

/** Gets the run, and the number of its newest event if the notice has it. Nothing after a lost connection. */
export type Heard = (run?: string, seq?: number) => void;

export interface Notices {
  /** Calls back for each notice of a run, or of all runs. Returns a function that ends it. */
  on(kind: NoticeKind, run: string | undefined, listener: Heard): () => void;
  /**
   * The connection that listens, which also takes statements that must not wait for others. Undefined if there
   * is none at the moment.
   */
  line(): Pick<pg.Client, 'query'> | undefined;
  /** Waits for that connection. `onWait` gets the reason if this takes long. */
  ready(onWait: (why: string) => void): Promise<void>;
  /** The connection does not answer, so another one takes its place. */
  replace(): void;
}

/** The connection exists while there are listeners. */
export function listenTo(database: Database): Notices {
  const listeners = new Set<Listener>();
  let client: pg.Client | undefined;
  let isConnecting = false;
  let failures = 0;
  let trouble: unknown;
  let retry: NodeJS.Timeout | undefined;
  let isListening = false;

  const connect = async () => {
    if (isConnecting || client || listeners.size === 0) return;
    isConnecting = true;
    try {
      const connected = await database.connect();
      connected.on('notification', ({ payload = '' }) => tell(payload));
      connected.on('end', () => lose(connected));
      client = connected;
      await connected.query(`listen ${CHANNEL}`);
      failures = 0;
      isListening = client === connected;
      for (const { listener } of [...listeners]) listener();
    } catch (error) {
      trouble = error;
      failures++;
      if (client) lose(client);
    } finally {
      isConnecting = false;
    }
    if (listeners.size === 0) disconnect();
    else if (!client) later();
  };
  const later = () => {
    clearTimeout(retry);
    retry = setTimeout(connect, Math.min(LONGEST_PAUSE_MS, 50 * 2 ** Math.min(failures, 10)));
  };
  const lose = (lost: pg.Client) => {
    if (client !== lost) return;
    client = undefined;
    isListening = false;
    void lost.end().catch(() => {});
    if (listeners.size > 0 && !isConnecting) later();
  };
  const disconnect = () => {
    clearTimeout(retry);
    const old = client;
    client = undefined;
    isListening = false;
    void old?.end().catch(() => {});
  };
  const tell = (payload: string) => {
    const space = payload.indexOf(' ');
    const [kind, rest] = [payload.slice(0, space), payload.slice(space + 1)];
    const [run = '', seq] = kind === 'events' ? rest.split(' ') : [rest];
    for (const one of [...listeners])
      if (one.kind === kind && (one.run ?? run) === run)
        one.listener(run, seq === undefined ? undefined : Number(seq));
  };

  return {
    on(kind, run, listener) {
      const one: Listener = { kind, run, listener };
      listeners.add(one);
      void connect();
      return () => {
        listeners.delete(one);
        if (listeners.size === 0 && !isConnecting) disconnect();
      };
    },
    line: () => (isListening ? client : undefined),
    async ready(onWait) {
      const since = Date.now();
      for (let isSaid = false; !isListening && listeners.size > 0; ) {
        await delay(LOOK_MS);
        if (isSaid || trouble === undefined || Date.now() - since < LONG_MS) continue;
        isSaid = true;
        onWait(reasonOf(trouble));
      }
    },
    replace() {
      if (client) lose(client);
    },
  };
}

interface Listener {
  readonly kind: NoticeKind;
  readonly run: string | undefined;
  readonly listener: Heard;
}

const LONGEST_PAUSE_MS = 2_000;
const LOOK_MS = 20;
const LONG_MS = 1_000;

/**
 * Yields immediately, and whenever something of the run, or of any run, may have changed, until aborted.
 * Notices are fast, the timer is reliable.
 */
export async function* changesOf(
  notices: Notices,
  kinds: readonly NoticeKind[],
  run: string | undefined,
  { signal, lookEveryMs }: { readonly signal: AbortSignal; readonly lookEveryMs: number },
): AsyncGenerator<void, void> {
  let hasChanged = true;
  let resolveNext = () => {};
  const wake = () => {
    hasChanged = true;
    resolveNext();
  };
  const timer = setInterval(wake, lookEveryMs);
  const endings = kinds.map((kind) => notices.on(kind, run, wake));
  signal.addEventListener('abort', wake);
  try {
    while (!signal.aborted) {
      if (!hasChanged)
        await new Promise<void>((resolve) => {
          resolveNext = resolve;
        });
      hasChanged = false;
      if (!signal.aborted) yield;
    }
  } finally {
    clearInterval(timer);
    signal.removeEventListener('abort', wake);
    for (const end of endings) end();
  }
}
