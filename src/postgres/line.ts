/**
 * A connection that all statements outside of transactions share. Each is sent when it is made, and none
 * waits for the answer to another. So a distant server costs each of them one round trip, and a process
 * without transactions needs one connection.
 */
import type pg from 'pg';
import type { Doubts } from './doubts.ts';
import { isUncertain } from './trouble.ts';

export class Line {
  readonly #acquire: () => Promise<pg.PoolClient>;
  readonly #isAwaited: () => boolean;
  readonly #doubts: Doubts;
  #shared: Shared | undefined;

  /** `isAwaited`: transactions wait for a connection, so this one has to become free. */
  constructor(acquire: () => Promise<pg.PoolClient>, isAwaited: () => boolean, doubts: Doubts) {
    this.#acquire = acquire;
    this.#doubts = doubts;
    this.#isAwaited = isAwaited;
  }

  async query<R extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<pg.QueryResult<R>> {
    if (!this.#shared || (this.#shared.isOpen && this.#isAwaited()))
      this.#shared = opened(this.#acquire());
    const shared = this.#shared;
    shared.users++;
    const wait = this.#doubts.wait();
    try {
      const client = await shared.client;
      return await wait.for(client.query<R>(statement), client);
    } catch (error) {
      shared.isBroken ||= isUncertain(error);
      throw error;
    } finally {
      wait.end();
      shared.users--;
      if ((shared.isBroken || shared.users === 0) && this.#shared === shared)
        this.#shared = undefined;
      if (shared.users === 0) await shared.release();
    }
  }
}

interface Shared {
  readonly client: Promise<pg.PoolClient>;
  users: number;
  isOpen: boolean;
  isBroken: boolean;
  release(): Promise<void>;
}

function opened(client: Promise<pg.PoolClient>): Shared {
  const onError = () => {
    shared.isBroken = true;
  };
  const shared: Shared = {
    client: client.then((connected) => {
      shared.isOpen = true;
      return connected.on('error', onError);
    }),
    ...{ users: 0, isOpen: false, isBroken: false },
    async release() {
      const connected = await client.catch(() => undefined);
      connected?.removeListener('error', onError);
      connected?.release(shared.isBroken);
    },
  };
  return shared;
}
