/** Sends requests to a receiver, one at a time. It never throws, and never keeps a process alive. */
import type { Receiver } from './settings.ts';

export class Sender {
  readonly #receiver: Receiver;
  readonly #closed = new AbortController();
  #newest: Promise<boolean> = Promise.resolve(true);
  failures = 0;

  constructor(receiver: Receiver) {
    this.#receiver = receiver;
  }

  /** Resolves with whether the receiver has accepted it. */
  send(body: unknown): Promise<boolean> {
    this.#newest = this.#newest.then(() => this.#post(JSON.stringify(body)));
    return this.#newest;
  }

  /** Waits briefly until everything is sent, unless the receiver has failed. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.failures > 0 ? 0 : PATIENCE_MS);
    });
    await Promise.race([this.#newest, patience]);
    clearTimeout(timer);
    this.#closed.abort();
    await this.#newest;
  }

  async #post(body: string): Promise<boolean> {
    const { url, headers, timeoutMs } = this.#receiver;
    try {
      this.#closed.signal.throwIfAborted();
      const answer = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
        // The headers may contain a key, which no other host may see.
        redirect: 'error',
        signal: AbortSignal.any([this.#closed.signal, AbortSignal.timeout(timeoutMs)]),
      });
      await answer.body?.cancel();
      if (answer.ok) return true;
    } catch {
      // The run does not depend on it, and the caller reports the number of failures.
    }
    this.failures += 1;
    return false;
  }
}

const PATIENCE_MS = 2_000;
