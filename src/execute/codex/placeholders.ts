import { existsSync, lstatSync, rmdirSync, unlinkSync } from 'node:fs';

/**
 * Codex puts an empty file or folder where a protected file is missing, so that nothing can be made there, and
 * removes it at the end of the command. A process that is killed leaves it behind, and so do two that end at the
 * same time. It would confuse other programs.
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
      if (lstatSync(path).isDirectory()) rmdirSync(path);
      else if (isEmptyFile(path)) unlinkSync(path);
    } catch {
      // It is not there, or it is not empty.
    }
  }
}

/** As codex makes it: nobody can write to it. */
function isEmptyFile(path: string): boolean {
  const { size, mode } = lstatSync(path);
  return size === 0 && (mode & 0o777) === 0o444;
}
