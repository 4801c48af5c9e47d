/** Where steps, people, signals and timers put what happened, and the loop's only wait. */
export class Inbox<T> {
  #items: T[] = [];
  #wake: (() => void) | undefined;

  put(item: T): void {
    this.#items.push(item);
    this.#wake?.();
  }

  /** Everything that has come in; waits until there is something. */
  async take(): Promise<readonly T[]> {
    while (this.#items.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#wake = undefined;
    return this.takeNow();
  }

  /** Everything that has come in, be it nothing. */
  takeNow(): readonly T[] {
    return this.#items.splice(0);
  }
}
