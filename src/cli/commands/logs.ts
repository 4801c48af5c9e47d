import { setTimeout as delay } from 'node:timers/promises';
import { apply } from '../../interpret/apply.ts';
import { newRun } from '../../interpret/new-run.ts';
import type { JournaledEvent } from '../../model/event.ts';
import type { RunStore } from '../../ports.ts';
import { condition, openRun } from '../runs.ts';
import type { Here } from '../surroundings.ts';
import { stderr, stdout } from '../terminal.ts';
import { retelling } from './show.ts';

export interface LogsOptions {
  readonly follow?: boolean;
  readonly json?: boolean;
}

/** Prints what a run has reported. With `--follow`, continues until no process works on the run. */
export async function logs(
  here: Here,
  name: string,
  { follow, json }: LogsOptions,
): Promise<number> {
  const { store } = await here();
  const { id } = await openRun(store, name);
  const retell = retelling();
  let run = newRun;
  const print = (event: JournaledEvent) => {
    if (json) return stdout.json(event);
    const before = run;
    run = apply(before, event);
    stdout.lines(retell(event, before, run));
  };
  let printed = 0;
  if (follow) {
    const unowned = new AbortController();
    const looking = abortWhenUnowned(store, id, unowned);
    try {
      for await (const event of store.watch(id, 0, unowned.signal)) {
        print(event);
        printed = event.seq;
      }
    } finally {
      unowned.abort();
      await looking;
    }
  }
  // A process may have appended events between the last look and its end.
  for await (const event of store.events(id, printed)) print(event);
  if (!follow) return 0;
  const found = await openRun(store, id);
  if (found.run.status.kind !== 'ended') stderr.say(`${id}: ${condition(found)}`);
  return 0;
}

const LOOK_EVERY_MS = 500;

/** Aborts when no process works on the run. Returns when the caller aborts. */
async function abortWhenUnowned(
  store: RunStore,
  id: string,
  unowned: AbortController,
): Promise<void> {
  const { signal } = unowned;
  while (!signal.aborted && (await store.owner(id).catch(() => undefined)))
    await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
  unowned.abort();
}
