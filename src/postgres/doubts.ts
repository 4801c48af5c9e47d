/**
 * The answers for which this process waits. A connection can hang without an error. When others say so, its
 * answers are given up, so that their statements are repeated on other connections.
 */
import type pg from 'pg';
import type { Queries } from './database.ts';

export class Doubts {
  readonly #waits = new Set<Wait>();

  /** A wait for the answers of one connection. Call `end` after it. */
  wait(client?: pg.ClientBase): Wait {
    const wait = new Wait(() => this.#waits.delete(wait), client);
    this.#waits.add(wait);
    return wait;
  }

  /** The network loses what is sent. */
  doubtAll(): void {
    for (const wait of [...this.#waits]) wait.doubt();
  }

  /**
   * Gives up the answers for which this process has waited for that long although the server has nothing to
   * do for their connections. Another connection asks it. A statement that takes long, or that waits for a
   * lock, is active.
   */
  async doubtIdle({ query }: Queries, silentMs: number): Promise<void> {
    const silent = [...this.#waits].filter((wait) => wait.silentMs() > silentMs);
    if (silent.length === 0) return;
    const idle = await query<{ pid: number }>(
      `select pid from pg_stat_activity
        where pid = any($1) and state like 'idle%'
          and state_change < clock_timestamp() - $2 * interval '1 millisecond'`,
      [silent.flatMap((wait) => wait.pid() ?? []), silentMs / 2],
    );
    const pids = new Set<number | undefined>(idle.map(({ pid }) => pid));
    for (const wait of silent) if (wait.silentMs() > silentMs && pids.has(wait.pid())) wait.doubt();
  }
}

export class Wait {
  readonly end: () => void;
  readonly #doubted: Promise<never>;
  #reject = (_error: Error) => {};
  #client: pg.ClientBase | undefined;
  #unanswered = 0;
  /** Since the last statement or answer. */
  #since = 0;

  constructor(end: () => void, client: pg.ClientBase | undefined) {
    this.end = end;
    this.#client = client;
    this.#doubted = new Promise<never>((_resolve, reject) => {
      this.#reject = reject;
    });
    this.#doubted.catch(() => {});
  }

  get isAnswered(): boolean {
    return this.#unanswered === 0;
  }

  async for<R>(answer: Promise<R>, client = this.#client): Promise<R> {
    this.#client = client;
    this.#unanswered++;
    this.#since = performance.now();
    return Promise.race([answer, this.#doubted]).finally(() => {
      this.#unanswered--;
      this.#since = performance.now();
    });
  }

  doubt(): void {
    this.#reject(new Error('Connection terminated: it does not answer'));
  }

  silentMs(): number {
    return this.isAnswered ? 0 : performance.now() - this.#since;
  }

  /** The process of the server. */
  pid(): number | undefined {
    const client = this.#client;
    return client && 'processID' in client && typeof client.processID === 'number'
      ? client.processID
      : undefined;
  }
}
