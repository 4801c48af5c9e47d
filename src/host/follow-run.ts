import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { JournaledEvent } from '../model/event.ts';
import type { Clock, EachEvent, RunStore } from '../ports.ts';
import { openRun } from './open-run.ts';

/** Without a worker, a run in a database makes no progress, so the user must know. */
export const NO_WORKER =
  'No worker is running for this database. Start one on any machine: raymond worker --database <url>';

interface Following {
  /** Only events after this one. */
  readonly after?: number | undefined;
  /** Ends the following early. */
  readonly signal?: AbortSignal | undefined;
  /** The last worker has gone, or one has come back. */
  readonly unattended?: ((isMissing: boolean) => void) | undefined;
}

interface FollowPorts {
  readonly store: RunStore;
  readonly clock: Clock;
}

/** The events of a run with the run before and after each, as long as `followEvents` gives them. */
export async function* followRun(
  ports: FollowPorts,
  id: string,
  following: Omit<Following, 'after'> = {},
): AsyncGenerator<Parameters<EachEvent>> {
  let run = newRun;
  for await (const event of followEvents(ports, id, following)) {
    const before = event.seq === 1 ? undefined : run;
    run = apply(run, event);
    yield [event, before, run];
  }
}

/** The events of a run, and then each new one, until no process works on the run and all are read. */
export async function* followEvents(
  { store, clock }: FollowPorts,
  id: string,
  { after = 0, signal, unattended }: Following = {},
): AsyncGenerator<JournaledEvent> {
  const over = new AbortController();
  const end = () => over.abort();
  signal?.addEventListener('abort', end);
  if (signal?.aborted) end();
  let read = after;
  let last: number | undefined;
  const looking = watchOwner().then(async () => {
    if (over.signal.aborted) return;
    last = (await openRun(store, id)).run.seq;
    if (read >= last) end();
  });
  // The watch also reports errors, and ends the checks.
  looking.catch(end);
  try {
    for await (const event of store.watch(id, after, over.signal)) {
      yield event;
      read = event.seq;
      if (last !== undefined && read >= last) break;
    }
  } finally {
    end();
    signal?.removeEventListener('abort', end);
  }
  await looking;

  /** Resolves when no process works on the run, or when aborted. */
  async function watchOwner(): Promise<void> {
    let isReported = false;
    for (let looks = 0; !over.signal.aborted; looks++) {
      const owner = await store.owner(id).catch(() => undefined);
      if (!owner) return;
      // A worker that is just starting needs a moment.
      const isMissing = owner.isAwaited === true && looks >= LOOKS_FOR_A_WORKER;
      if (isMissing !== isReported) unattended?.(isMissing);
      isReported = isMissing;
      await pause(clock, over.signal);
    }
  }
}

const LOOK_EVERY_MS = 500;
const LOOKS_FOR_A_WORKER = 4;

function pause(clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.at(clock.now() + LOOK_EVERY_MS, wake);
    signal.addEventListener('abort', wake);
    function wake() {
      cancel();
      signal.removeEventListener('abort', wake);
      resolve();
    }
  });
}
