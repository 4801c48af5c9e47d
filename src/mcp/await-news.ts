import type { RunEvent } from '../model/event.ts';
import { ignore } from '../model/event-kinds.ts';
import type { RunStore, StoredRun } from '../ports.ts';

export interface NewsWanted {
  /** The last event that the caller knows of; undefined to begin with the current state. */
  readonly after: number | undefined;
  /** `attention`: a question, a permission request, a failure, a limit or the end. `change`: any event. */
  readonly until: 'attention' | 'change';
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/**
 * Waits until there is news of a run. Resolves with false if the wait was ended. A run without a process
 * has no more news.
 */
export async function awaitNews(
  store: RunStore,
  { id, run, owner }: StoredRun,
  { after, until, signal }: NewsWanted,
): Promise<boolean> {
  const needsAttention = run.tally.asking + run.tally.asksPermission + run.tally.failed > 0;
  if (after === undefined && until === 'attention' && needsAttention) return true;
  if (after === undefined && (!owner || run.status.kind === 'ended')) return true;
  const over = new AbortController();
  const stop = () => over.abort();
  signal.addEventListener('abort', stop);
  // A process that dies writes no event.
  let isLeft = false;
  const look = setInterval(async () => {
    isLeft ||= (await store.owner(id).catch(() => undefined)) === undefined;
    if (isLeft) stop();
  }, LOOK_EVERY_MS);
  if (signal.aborted) stop();
  try {
    const isNews = (event: RunEvent) => until === 'change' || isForAttention(event);
    for await (const event of store.watch(id, after ?? run.seq, over.signal))
      if (isNews(event)) return true;
    return isLeft;
  } finally {
    clearInterval(look);
    signal.removeEventListener('abort', stop);
    over.abort();
  }
}

const LOOK_EVERY_MS = 1_000;

function isForAttention(event: RunEvent): boolean {
  switch (event.type) {
    case 'agent-asked':
    case 'permission-asked':
    case 'agent-failed':
    case 'usage-limited':
    case 'stop-requested':
    case 'run-ended':
      return true;
    default:
      ignore(event);
      return false;
  }
}
