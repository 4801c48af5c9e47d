/** Keeps the triggers of the directories that are registered in a database, as far as this machine has them. */
import { existsSync } from 'node:fs';
import { messageOf } from '../../model/message-of.ts';
import type { Clock } from '../../ports.ts';
import type { Database } from '../../postgres/database.ts';
import { postgresOccasions } from '../../postgres/occasions.ts';

export interface SharedTriggersParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly report: (text: string) => void;
  /** Begins to keep the triggers of a directory. */
  keep(directory: string): Promise<{ close(): Promise<void> }>;
}

/** Returns a function that ends it. */
export function keepSharedTriggers(parts: SharedTriggersParts): () => Promise<void> {
  const { database, clock, report, keep } = parts;
  const ledger = postgresOccasions(database);
  const kept = new Map<string, { close(): Promise<void> }>();
  const said = new Set<string>();
  let cancel = () => {};
  let isClosed = false;
  const look = async () => {
    for (const directory of await ledger.registered()) {
      if (isClosed || kept.has(directory) || !existsSync(directory)) continue;
      try {
        kept.set(directory, await keep(directory));
      } catch (error) {
        // It must not keep the others from being kept, and comes again with the next look.
        const problem = `Cannot keep the triggers of ${directory}: ${messageOf(error)}`;
        if (!said.has(problem)) report(problem);
        said.add(problem);
      }
    }
  };
  const again = () => {
    if (isClosed) return;
    working = look().catch((error) => report(`Cannot keep triggers: ${messageOf(error)}`));
    void working.then(() => {
      if (!isClosed) cancel = clock.at(clock.now() + LOOK_EVERY_MS, again);
    });
  };
  let working = Promise.resolve();
  again();
  return async () => {
    isClosed = true;
    cancel();
    await working;
    for (const one of kept.values()) await one.close();
  };
}

const LOOK_EVERY_MS = 10_000;
