/**
 * The events of a run that have arrived, each exactly once and in order. Only the newest ones are
 * kept: a run may have 100,000.
 */
export interface Numbered {
  readonly seq: number;
}

export interface SeenEvents<E extends Numbered> {
  /** The number of the newest event. The stream continues after it. */
  readonly position: number;
  readonly newest: readonly E[];
}

export function seenEvents<E extends Numbered>(position: number): SeenEvents<E> {
  return { position, newest: [] };
}

/** Ignores what has arrived before. Undefined if an event is missing in between: the page must read again. */
export function withBatch<E extends Numbered>(
  seen: SeenEvents<E>,
  batch: readonly E[],
): SeenEvents<E> | undefined {
  const fresh = batch.filter(({ seq }) => seq > seen.position);
  if (fresh.some(({ seq }, index) => seq !== seen.position + index + 1)) return undefined;
  if (fresh.length === 0) return seen;
  const newest = [...seen.newest, ...fresh];
  return {
    position: seen.position + fresh.length,
    newest: newest.length > MOST_KEPT ? newest.slice(-MOST_KEPT) : newest,
  };
}

const MOST_KEPT = 1_000;
