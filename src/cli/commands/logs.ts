import { setTimeout as delay } from 'node:timers/promises';
import type { RunEvent } from '../../model/event.ts';
import type { RunStore } from '../../ports.ts';
import { condition, openRun } from '../runs.ts';
import type { Here } from '../surroundings.ts';
import { stderr, stdout } from '../terminal.ts';
import { retelling } from './show.ts';

export interface LogsOptions {
  readonly follow?: boolean;
  readonly json?: boolean;
}

/** What a run has reported; with `--follow`, on until nobody works on it. */
export async function logs(
  here: Here,
  name: string,
  { follow, json }: LogsOptions,
): Promise<number> {
  const { store } = await here();
  const { id } = await openRun(store, name);
  const retell = retelling();
  const print = (event: RunEvent) => {
    const line = retell(event);
    if (json) stdout.json(event);
    else if (line) stdout.line(line);
  };
  let printed = 0;
  if (follow) {
    const nobodyWorks = new AbortController();
    const looking = untilNobodyWorks(store, id, nobodyWorks);
    try {
      for await (const event of store.watch(id, 0, nobodyWorks.signal)) {
        print(event);
        printed = event.seq;
      }
    } finally {
      nobodyWorks.abort();
      await looking;
    }
  }
  // What a process appended before it ended is still read.
  for await (const event of store.events(id, printed)) print(event);
  if (!follow) return 0;
  const found = await openRun(store, id);
  if (found.run.status.kind !== 'ended') stderr.say(`${id}: ${condition(found)}`);
  return 0;
}

const LOOK_EVERY_MS = 500;

/** Aborts when it is so; ends when somebody else aborts. */
async function untilNobodyWorks(
  store: RunStore,
  id: string,
  nobodyWorks: AbortController,
): Promise<void> {
  const { signal } = nobodyWorks;
  while (!signal.aborted && (await store.owner(id).catch(() => undefined)))
    await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
  nobodyWorks.abort();
}
