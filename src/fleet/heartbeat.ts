/**
 * Renews the lease of a worker. It uses a separate connection, so that a busy pool does not delay it. If
 * it cannot renew in time, the worker is lost before others take its steps.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Database } from '../postgres/database.ts';
import { monotonicMs } from './monotonic.ts';
import type { Guard } from './ports.ts';
import { renew } from './worker-table.ts';

export interface HeartbeatParts {
  readonly database: Database;
  readonly worker: string;
  readonly leaseMs: number;
  readonly guard: Pick<Guard, 'renew'>;
  readonly onLost: (why: string) => void;
}

/** The part of the lease that is left for ending all steps before others take them. */
const MARGIN = 0.25;

/** The part of the lease that one attempt may take, so that a connection that hangs does not cost it. */
const PATIENCE = 1 / 8;

export class Heartbeat {
  readonly #parts: HeartbeatParts;
  readonly #timer: NodeJS.Timeout;
  /** The last moment at which this worker may act; in two clocks, because one stops while a laptop sleeps. */
  #until: { readonly monotonic: number; readonly wall: number };
  #client: Client | undefined;
  #failures = 0;
  #isClosed = false;
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
    this.#isClosed = true;
    clearInterval(this.#timer);
    void this.#client?.end().catch(() => {});
  }

  #check(): void {
    if (this.#isClosed || !this.isOver) return;
    this.#lose('it could not renew its lease in time');
  }

  #lose(why: string): void {
    if (this.#isClosed) return;
    this.close();
    this.#parts.onLost(why);
  }

  async #beat(): Promise<void> {
    const { leaseMs } = this.#parts;
    while (!this.#isClosed) {
      const isRenewed = await this.#renew().catch(() => false);
      this.#failures = isRenewed ? 0 : this.#failures + 1;
      // Trouble is retried soon, because the lease runs out.
      await delay(isRenewed ? leaseMs / 4 : Math.min(500, leaseMs / 20), undefined, { ref: false });
    }
  }

  async #renew(): Promise<boolean> {
    const { worker, leaseMs, guard } = this.#parts;
    const client = await this.#connected();
    const sentAt = monotonicMs();
    const sentWall = Date.now();
    const query = async <R extends object>(text: string, values: readonly unknown[] = []) =>
      (await client.query<R>(text, [...values])).rows;
    const at = await renew({ query }, worker, leaseMs).catch((error) => {
      this.#client = undefined;
      void client.end().catch(() => {});
      throw error;
    });
    if (this.#isClosed || this.isOver) return true;
    if (at === undefined) {
      this.#lose('others have declared it dead');
      return true;
    }
    this.#skewMs = at - (sentWall + (Date.now() - sentWall) / 2);
    this.#until = this.#deadline(sentAt);
    guard.renew(this.#until.monotonic);
    return true;
  }

  async #connected(): Promise<Client> {
    if (this.#client) return this.#client;
    // If the database is only slow, another attempt needs more time.
    const patienceMs = this.#parts.leaseMs * PATIENCE * (this.#failures > 0 ? 2 : 1);
    const client = await this.#parts.database.connect(patienceMs);
    client.on('end', () => {
      if (this.#client === client) this.#client = undefined;
    });
    if (this.#isClosed) void client.end().catch(() => {});
    this.#client = client;
    return client;
  }

  #deadline(from: number): { readonly monotonic: number; readonly wall: number } {
    const left = this.#parts.leaseMs * (1 - MARGIN) - (monotonicMs() - from);
    return { monotonic: monotonicMs() + left, wall: Date.now() + left };
  }
}
