import { useEffect, useState } from 'preact/hooks';

/** A value that the page shows, and everything that depends on it. */
export class Store<T> {
  #value: T;
  readonly #readers = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const reader of [...this.#readers]) reader();
  }

  /** Gives the function that ends the subscription. */
  subscribe(reader: () => void): () => void {
    this.#readers.add(reader);
    return () => {
      this.#readers.delete(reader);
    };
  }
}

export function useStore<T>(store: Store<T>): T {
  const [, show] = useState({});
  useEffect(() => {
    // The value may have changed between the first drawing and this effect.
    show({});
    return store.subscribe(() => show({}));
  }, [store]);
  return store.value;
}
