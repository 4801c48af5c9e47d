import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launchFileOf } from './launch-file.ts';
import { stderrOf, stdoutOf } from './record.ts';

/** How many folders are kept ready. */
const MOST = 4;

/**
 * Step folders that are made ahead, with empty files for a launch. To create files takes long on many
 * file systems, and to rename a folder does not. So the files of the next step are created while a
 * command runs. Whatever goes wrong here, the step's folder is made in the usual way.
 */
export class SpareFolders {
  readonly #root: string;
  readonly #ready: string[] = [];
  #count = 0;
  #isAsked = false;
  #isClosed = false;

  /** `root` is emptied first: it may have folders of a Raymond process that was killed. */
  constructor(root: string) {
    this.#root = root;
  }

  /** Makes a new folder; returns false if there is no spare one, or the path is in use. */
  take(path: string): boolean {
    this.#prepare();
    const spare = this.#ready.pop();
    if (spare === undefined) return false;
    try {
      renameSync(spare, path);
      return true;
    } catch {
      if (existsSync(spare)) this.#ready.push(spare);
      return false;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#ready.length = 0;
    if (this.#count > 0) rmSync(this.#root, { recursive: true, force: true });
  }

  #prepare(): void {
    if (this.#isAsked || this.#isClosed) return;
    this.#isAsked = true;
    setImmediate(() => {
      this.#isAsked = false;
      if (!this.#isClosed && this.#ready.length < MOST) this.#make();
    });
  }

  #make(): void {
    try {
      if (this.#count === 0) this.#makeRoot();
      const folder = join(this.#root, String(++this.#count));
      mkdirSync(folder, { mode: 0o700 });
      for (const file of [launchFileOf(folder), stdoutOf(folder), stderrOf(folder)])
        writeFileSync(file, '', { mode: 0o600 });
      this.#ready.push(folder);
    } catch {
      // A full disk shows itself where it matters.
    }
  }

  /** The folder around it is not made: a run whose folder was removed must not bring it back. */
  #makeRoot(): void {
    rmSync(this.#root, { recursive: true, force: true });
    mkdirSync(this.#root, { mode: 0o700 });
  }
}
