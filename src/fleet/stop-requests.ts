/** How a worker is asked to stop: `drain` lets its steps finish. */
export type StopHow = 'drain' | 'now';

/** The requests to stop a worker. Each wait that can be endless has to end with them. */
export class StopRequests {
  readonly #listeners = new Set<(how: StopHow) => void>();
  #last: StopHow | undefined;

  get isStopped(): boolean {
    return this.#last !== undefined;
  }

  ask(how: StopHow): void {
    this.#last = how;
    for (const listener of [...this.#listeners]) listener(how);
  }

  /** Calls back for each request, also for an earlier one. Returns a function that ends this. */
  on(listener: (how: StopHow) => void): () => void {
    this.#listeners.add(listener);
    if (this.#last) listener(this.#last);
    return () => void this.#listeners.delete(listener);
  }

  /** The result of the work; undefined if a request comes first. Then the work is abandoned. */
  async before<T>(work: Promise<T>): Promise<T | undefined> {
    work.catch(() => {});
    let end = () => {};
    const stopped = new Promise<undefined>((resolve) => {
      end = this.on(() => resolve(undefined));
    });
    return Promise.race([work, stopped]).finally(end);
  }
}
