import type { RunEventOf } from './event.ts';

/** The rewinds of a run that can be undone, and a fact about each of them. */
export class OpenRewinds<T> {
  readonly #open: { readonly seq: number; readonly fact: T }[] = [];

  /** A rewind that was undone is gone, and so are those after it. */
  follow(event: RunEventOf<'run-rewound'> & { readonly seq: number }, fact: () => T): void {
    const undone = this.#open.findIndex(({ seq }) => seq === event.undoes);
    if (undone >= 0) this.#open.splice(undone);
    else this.#open.push({ seq: event.seq, fact: fact() });
  }

  get newest(): T | undefined {
    return this.#open.at(-1)?.fact;
  }
}
