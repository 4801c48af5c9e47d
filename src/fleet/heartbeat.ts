/**
 * Renews the lease of a worker. It uses the connection that listens, so that a busy pool does not delay it, and
 * sends the next renewal before the last one is answered, so that a distant database costs nothing. If the
 * connection hangs, another one renews. If nothing helps in time, the worker is lost before others take its
 * steps.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Database, Queries } from '../postgres/database.ts';
import type { Notices } from '../postgres/notices.ts';
import { monotonicMs } from './monotonic.ts';
import type { Guard } from './ports.ts';
import { renew, type Traffic } from './worker-table.ts';

export interface HeartbeatParts {
  readonly database: Database;
  readonly notices: Pick<Notices, 'line' | 'replace'>;
  readonly worker: string;
  readonly leaseMs: number;
  readonly guard: Pick<Guard, 'renew'>;
  /** The work of the worker so far. */
  readonly traffic: () => Traffic;
  readonly onLost: (why: string) => void;
  /** Called after each renewal, with the time until its answer. */
  readonly onRenewed?: (latencyMs: number) => void;
}

/** The part of the lease that is left for ending all steps before others take them. */
const MARGIN = 0.25;

/** The part of the lease after which another connection is tried, so that one that hangs does not cost it. */
const PATIENCE = 1 / 8;

export class Heartbeat {
  readonly #parts: HeartbeatParts;
  readonly #timer: NodeJS.Timeout;
  /** The last moment at which this worker may act; in two clocks, because one stops while a laptop sleeps. */
  #until: { readonly monotonic: number; readonly wall: number };
  #elsewhere: Promise<void> | undefined;
  #latencyMs: number | undefined;
  readonly #closing = new AbortController();
  /** The time of the database, minus that of this machine. */
  #skewMs = 0;

  /** `registeredAt` is when the registration began, in `monotonicMs`. */
  constructor(parts: HeartbeatParts, registeredAt: number) {
    this.#parts = parts;
    this.#until = this.#deadline(registeredAt);
    parts.guard.renew(this.#until.monotonic);
    this.#timer = setInterval(() => this.#check(), Math.max(20, parts.leaseMs / 40));
    void this.#beat();
  }

  get isOver(): boolean {
    const { monotonic, wall } = this.#until;
    return monotonicMs() >= monotonic || Date.now() >= wall;
  }

  /** The time of the database, as the last renewal has shown it. */
  now(): number {
    return Date.now() + this.#skewMs;
  }

  close(): void {
    this.#closing.abort();
    clearInterval(this.#timer);
  }

  #check(): void {
    if (this.#closing.signal.aborted || !this.isOver) return;
    this.#lose('it could not renew its lease in time');
  }

  #lose(why: string): void {
    if (this.#closing.signal.aborted) return;
    this.close();
    this.#parts.onLost(why);
  }

  async #beat(): Promise<void> {
    const { leaseMs, notices } = this.#parts;
    while (!this.#closing.signal.aborted) {
      const began = monotonicMs();
      const line = notices.line();
      const renewed = line ? this.#renew(queriesOf(line)) : Promise.reject(new Error('No line.'));
      const patienceMs = Math.max(leaseMs * PATIENCE, 2 * (this.#latencyMs ?? 0));
      const isRenewed = await Promise.race([renewed.catch(() => false), pause(patienceMs)]);
      if (!isRenewed) this.#renewElsewhere(renewed);
      else if (line) this.#doubtIdle(queriesOf(line));
      // Trouble is retried soon, because the lease runs out.
      const rest = isRenewed ? leaseMs / 4 - (monotonicMs() - began) : Math.min(500, leaseMs / 20);
      await pause(Math.max(0, rest));
    }
  }

  /** This connection answers, so it can tell whether others hang. */
  #doubtIdle(queries: Queries): void {
    const silentMs = Math.max(this.#parts.leaseMs / 4, 4 * (this.#latencyMs ?? 0));
    void this.#parts.database.doubtIdle(queries, silentMs).catch(() => {});
  }

  /** One other connection at a time. If it is faster, the first one hangs. */
  #renewElsewhere(renewed: Promise<boolean>): void {
    const first = { isRenewed: false, isAnswered: false };
    void renewed
      .then(() => {
        first.isRenewed = true;
      })
      .catch(() => {})
      .finally(() => {
        first.isAnswered = true;
      });
    const { database, notices } = this.#parts;
    this.#elsewhere ??= (async () => {
      const client = await database.connect(this.#parts.leaseMs / 2).catch(() => undefined);
      try {
        if (first.isRenewed) return;
        // The server may refuse another connection.
        await this.#renew(client ? queriesOf(client) : database.until(this.#closing.signal));
        if (first.isAnswered) return;
        notices.replace();
        database.doubt();
      } finally {
        void client?.end().catch(() => {});
      }
    })()
      .catch(() => {})
      .finally(() => {
        this.#elsewhere = undefined;
      });
  }

  async #renew(queries: Queries): Promise<boolean> {
    const { worker, leaseMs, guard, traffic, onRenewed } = this.#parts;
    const sentAt = monotonicMs();
    const sentWall = Date.now();
    const at = await renew(queries, worker, leaseMs, { ...traffic(), latencyMs: this.#latencyMs });
    if (this.#closing.signal.aborted || this.isOver) return true;
    if (at === undefined) {
      this.#lose('others have declared it dead');
      return true;
    }
    this.#latencyMs = monotonicMs() - sentAt;
    this.#skewMs = at - (sentWall + (Date.now() - sentWall) / 2);
    const until = this.#deadline(sentAt);
    if (until.monotonic > this.#until.monotonic) {
      this.#until = until;
      guard.renew(until.monotonic);
    }
    onRenewed?.(this.#latencyMs);
    return true;
  }

  #deadline(from: number): { readonly monotonic: number; readonly wall: number } {
    const left = this.#parts.leaseMs * (1 - MARGIN) - (monotonicMs() - from);
    return { monotonic: monotonicMs() + left, wall: Date.now() + left };
  }
}

const queriesOf = (client: Pick<Client, 'query'>): Queries => ({
  query: async <R extends object>(text: string, values: readonly unknown[] = []) =>
    (await client.query<R>(text, [...values])).rows,
});

/** False, after a while. */
const pause = (ms: number) => delay(ms, false, { ref: false });
