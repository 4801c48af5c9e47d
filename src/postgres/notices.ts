/**
 * News of the database, by LISTEN. A notice only says where to look. After a lost connection every
 * listener looks, so nothing is missed.
 */
import type pg from 'pg';
import { CHANNEL } from './announcer.ts';
import type { Database } from './database.ts';

/** `gone`: the run was removed. `head`: a command has changed a run; see `announceHead`. */
export type NoticeKind = 'events' | 'mail' | 'now' | 'work' | 'gone' | 'head';

export interface Notices {
  /** Calls back for each notice of a run, or of all runs. Returns a function that ends it. */
  on(kind: NoticeKind, run: string | undefined, listener: (run?: string) => void): () => void;
}

/** The connection exists while there are listeners. */
export function listenTo(database: Database): Notices {
  const listeners = new Set<Listener>();
  let client: pg.Client | undefined;
  let isConnecting = false;
  let failures = 0;
  let retry: NodeJS.Timeout | undefined;

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
      for (const { listener } of [...listeners]) listener();
    } catch {
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
    void lost.end().catch(() => {});
    if (listeners.size > 0 && !isConnecting) later();
  };
  const disconnect = () => {
    clearTimeout(retry);
    const old = client;
    client = undefined;
    void old?.end().catch(() => {});
  };
  const tell = (payload: string) => {
    const space = payload.indexOf(' ');
    const [kind, run] = [payload.slice(0, space), payload.slice(space + 1)];
    for (const one of [...listeners])
      if (one.kind === kind && (one.run ?? run) === run) one.listener(run);
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
  };
}

interface Listener {
  readonly kind: NoticeKind;
  readonly run: string | undefined;
  readonly listener: (run?: string) => void;
}

const LONGEST_PAUSE_MS = 2_000;

/**
 * Yields at once, and whenever something of the run may have changed, until aborted. Notices are fast, the
 * timer is reliable.
 */
export async function* changesOf(
  notices: Notices,
  kind: NoticeKind,
  run: string,
  { signal, lookEveryMs }: { readonly signal: AbortSignal; readonly lookEveryMs: number },
): AsyncGenerator<void, void> {
  let hasChanged = true;
  let resolveNext = () => {};
  const wake = () => {
    hasChanged = true;
    resolveNext();
  };
  const timer = setInterval(wake, lookEveryMs);
  const end = notices.on(kind, run, wake);
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
    end();
  }
}
