import { existsSync, rmdirSync } from 'node:fs';

/**
 * Codex puts an empty folder where a protected file is missing, so that nothing can be made there, and
 * removes it at its end. A process that is killed leaves it behind, where it would confuse other programs.
 */
export class Placeholders {
  /** The paths that were missing, with the number of turns that count on them. */
  readonly #missing = new Map<string, number>();

  /** Returns a function for the end of the turn. The last turn that counts on a path removes what is left. */
  expect(paths: readonly string[]): () => void {
    const missing = paths.filter((path) => this.#missing.has(path) || !existsSync(path));
    for (const path of missing) this.#missing.set(path, (this.#missing.get(path) ?? 0) + 1);
    return () => {
      for (const path of missing) this.#release(path);
    };
  }

  #release(path: string): void {
    const others = (this.#missing.get(path) ?? 1) - 1;
    if (others > 0) {
      this.#missing.set(path, others);
      return;
    }
    this.#missing.delete(path);
    try {
      rmdirSync(path);
    } catch {
      // It is not there, or it is not empty.
    }
  }
}
