import { type Doing, doingByAgent } from '../model/now.ts';
import type { RunStore } from '../ports.ts';

/** Shows what the agents of a run are doing in another process, until the signal. */
export async function watchDoing(
  store: RunStore,
  id: string,
  signal: AbortSignal,
  show: (doing: ReadonlyMap<string, Doing>) => void,
): Promise<void> {
  for await (const now of store.watchNow(id, signal)) show(doingByAgent(now));
}
