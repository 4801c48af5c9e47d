/**
 * The items of batches. Each item costs one promise. A generator that yields items one by one costs
 * several, which is more than the work for an event.
 */
export function oneByOne<T>(batches: AsyncIterator<readonly T[]>): AsyncIterableIterator<T> {
  let batch: readonly T[] = [];
  let next = 0;
  const rest = (): IteratorResult<T, undefined> | undefined => {
    if (next >= batch.length) return undefined;
    const value = batch[next++] as T;
    return { done: false, value };
  };
  const fromNextBatch = async (): Promise<IteratorResult<T, undefined>> => {
    for (;;) {
      const { done, value } = await batches.next();
      if (done) return { done, value: undefined };
      [batch, next] = [value, 0];
      const found = rest();
      if (found) return found;
    }
  };
  return {
    next() {
      const found = rest();
      return found ? Promise.resolve(found) : fromNextBatch();
    },
    async return() {
      [batch, next] = [[], 0];
      await batches.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
