/**
 * Steps, people, signals and timers put inputs here. Taking from it is the only wait of the loop.
 */
export class Inbox<T> {
  #items: T[] = [];
  #isAwake = false;
  #wake: (() => void) | undefined;
  #failure: { readonly error: unknown } | undefined;

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  put(item: T): void {
    this.#items.push(item);
    this.wake();
  }

  /** Lets the current or the next call of `take` resolve, even without an item. */
  wake(): void {
    this.#isAwake = true;
    this.#wake?.();
  }

  /** Every current and later call of `take` rejects with the error. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.wake();
  }

  /** All pending items, when there is one or after `wake`. */
  async take(): Promise<readonly T[]> {
    if (!this.#isAwake && !this.#failure)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    this.#wake = undefined;
    if (this.#failure) throw this.#failure.error;
    return this.takeNow();
  }

  /** All pending items; may be empty. */
  takeNow(): readonly T[] {
    this.#isAwake = false;
    return this.#items.splice(0);
  }
}
