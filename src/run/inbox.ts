/** Where steps, people, signals and timers put what happened, and the loop's only wait. */
export class Inbox<T> {
  #items: T[] = [];
  #wake: (() => void) | undefined;
  #failure: { readonly error: unknown } | undefined;

  put(item: T): void {
    this.#items.push(item);
    this.#wake?.();
  }

  /** Nothing is taken any more: whoever waits, or comes to take, gets the error. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake?.();
  }

  /** Everything that has come in; waits until there is something. */
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

  /** Everything that has come in, be it nothing. */
  takeNow(): readonly T[] {
    return this.#items.splice(0);
  }
}
