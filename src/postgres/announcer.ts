import type pg from 'pg';

/** All notices of the database go through it. */
export const CHANNEL = 'raymond';

/**
 * Sends notices after the transactions that they are about, many at once.
 *
 * PostgreSQL lets only one transaction with a notice commit at a time, and that one waits for the disk.
 * So a notice in each decision would make the decisions of all runs wait for each other. A notice of its
 * own does not wait for the disk. It is lost if this process dies before it, and listeners look now and
 * then anyway.
 */
export class Announcer {
  readonly #send: Send;
  /** The newest of each kind and run. */
  #waiting = new Map<string, string>();
  #sending: Promise<void> | undefined;

  constructor(send: Send) {
    this.#send = send;
  }

  add(notices: readonly string[]): void {
    for (const notice of notices) this.#waiting.set(notice.split(' ', 2).join(' '), notice);
    if (this.#waiting.size > 0) this.#sending ??= this.#sendAll();
  }

  /** Resolves when nothing is left to send. */
  async settled(): Promise<void> {
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.size > 0) {
      const notices = [...this.#waiting.values()];
      this.#waiting = new Map();
      try {
        await this.#send({ text: ANNOUNCE, values: [CHANNEL, notices], query_timeout: 20_000 });
      } catch {
        // Listeners look now and then, and after a lost connection.
      }
    }
    this.#sending = undefined;
  }
}

type Send = (statement: pg.QueryConfig & { query_timeout: number }) => Promise<unknown>;

const ANNOUNCE = `select set_config('synchronous_commit', 'off', true), pg_notify($1, notice)
  from unnest($2::text[]) as notice`;
