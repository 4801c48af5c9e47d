/**
 * Steps, people, signals and timers put inputs here. Taking from it is the only wait of the loop.
 */
export class Inbox<T> {
  #items: T[] = [];
  #wake: (() => void) | undefined;
  #failure: { readonly error: unknown } | undefined;

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  put(item: T): void {
    this.#items.push(item);
    this.#wake?.();
  }

  /** Every current and later call of `take` rejects with the error. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake?.();
  }

  /** All pending items; waits until there is one. */
  async take(): Promise<readonly T[]> {
    while (this.#items.length === 0 && !this.#failure) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#wake = undefined;
    if (this.#failure) throw this.#failure.error;
    return this.takeNow();
  }

  /** All pending items; may be empty. */
  takeNow(): readonly T[] {
    return this.#items.splice(0);
  }
}
