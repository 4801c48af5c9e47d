import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  unlinkSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { emptied, type FileIdentity, makeOwnFile } from '../../files/own-file.ts';
import { STEP_FILES } from '../../model/step-files.ts';
import { LAUNCH, launchFileOf, type MadeFiles } from './launch-file.ts';
import { stderrOf, stdoutOf } from './record.ts';

/** How many folders are kept ready. */
const MOST_READY = 4;
/** How many folders of old steps are kept to be used again. */
const MOST_OLD = 256;
/** A proof that they can be used is sought for at least so many together. */
const LEAST_OLD = 16;
/** A proof takes at most this part of the time. */
const PROOF_SHARE = 1 / 20;
const LEAST_PAUSE_MS = 50;

/**
 * Step folders that are made ahead, with empty files for a launch. To create and remove files takes
 * long on many file systems, and to rename a folder does not. So the files of the next step are
 * prepared while a command runs, and the folders of old steps are used again. Whatever goes wrong
 * here, the step's folder is made in the usual way.
 */
export class SpareFolders {
  readonly #root: string;
  readonly #areFilesFree: () => boolean;
  readonly #ready: string[] = [];
  /** Folders of old steps. A process that survived its step may still write to their files. */
  #old: string[] = [];
  /** Folders of old steps whose files no process can write to. */
  #free: string[] = [];
  /** The files in the folders that are ready or lent, by the name of the folder. */
  readonly #files = new Map<string, MadeFiles>();
  #nextProofAt = 0;
  #count = 0;
  #isAsked = false;
  #isClosed = false;

  /**
   * `root` is emptied first: it may have folders of a Raymond process that was killed. `areFilesFree`
   * says whether no process has survived its step.
   */
  constructor(root: string, areFilesFree: () => boolean) {
    this.#root = root;
    this.#areFilesFree = areFilesFree;
  }

  /** A folder that the caller may use, and rename with `move`; undefined if none is ready. */
  lend(): string | undefined {
    this.#prepareLater();
    // When many steps begin together, to empty an old folder still takes less time than a new one.
    return this.#ready.pop() ?? this.#emptied();
  }

  /** The files that were made in a folder that was lent. */
  filesIn(spare: string): MadeFiles | undefined {
    return this.#files.get(basename(spare));
  }

  /** Renames a folder that was lent; returns false if that is not possible. */
  move(spare: string, path: string): boolean {
    this.#files.delete(basename(spare));
    if (isRenamed(spare, path)) return true;
    try {
      // An agent's first step.
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    } catch {
      return false;
    }
    return isRenamed(spare, path);
  }

  /** Makes a new folder with files; undefined if there is no spare one, or the path is in use. */
  take(path: string): MadeFiles | undefined {
    const spare = this.lend();
    if (spare === undefined) return undefined;
    const files = this.filesIn(spare);
    if (files && isRenamed(spare, path)) {
      this.#files.delete(basename(spare));
      return files;
    }
    if (existsSync(spare)) this.#ready.push(spare);
    return undefined;
  }

  /** Takes over the folder of an old step; returns false if its owner has to remove it. */
  takeOver(path: string): boolean {
    if (this.#isClosed || this.#old.length >= MOST_OLD) return false;
    try {
      const folder = this.#newPath();
      renameSync(path, folder);
      this.#old.push(folder);
      return true;
    } catch {
      return false;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#ready.length = 0;
    this.#files.clear();
    if (this.#count === 0) return;
    try {
      // A witness that has just been given a folder may still open its files.
      rmSync(this.#root, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
    } catch {
      // The next process that works on the run removes it.
    }
  }

  #prepareLater(): void {
    if (this.#isAsked || this.#isClosed) return;
    this.#isAsked = true;
    setImmediate(() => {
      this.#isAsked = false;
      if (this.#isClosed || this.#ready.length >= MOST_READY) return;
      try {
        if (this.#free.length === 0) this.#prove();
        this.#ready.push(this.#emptied() ?? this.#made());
      } catch {
        // A full disk shows itself where it matters.
      }
    });
  }

  #made(): string {
    const folder = this.#newPath();
    mkdirSync(folder, { mode: 0o700 });
    this.#files.set(basename(folder), makeFiles(folder));
    return folder;
  }

  #emptied(): string | undefined {
    const folder = this.#free.pop();
    if (folder === undefined) return undefined;
    const files = emptiedFiles(folder);
    if (files) {
      this.#files.set(basename(folder), files);
      return folder;
    }
    rmSync(folder, { recursive: true, force: true });
    return undefined;
  }

  #prove(): void {
    const before = performance.now();
    if (this.#old.length < LEAST_OLD || before < this.#nextProofAt) return;
    const old = this.#old;
    this.#old = [];
    if (this.#areFilesFree()) this.#free = old;
    else for (const folder of old) rmSync(folder, { recursive: true, force: true });
    const now = performance.now();
    this.#nextProofAt = now + Math.max(LEAST_PAUSE_MS, (now - before) / PROOF_SHARE);
  }

  #newPath(): string {
    if (this.#count === 0) this.#makeRoot();
    return join(this.#root, String(++this.#count));
  }

  /** The folder around it is not made: a run whose folder was removed must not bring it back. */
  #makeRoot(): void {
    rmSync(this.#root, { recursive: true, force: true });
    mkdirSync(this.#root, { mode: 0o700 });
  }
}

function isRenamed(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch {
    return false;
  }
}

/** Makes the files of a process in a folder, and empties those that are there. */
export function makeFiles(folder: string): MadeFiles {
  return filesOf(folder, (file) => {
    const { descriptor, identity } = makeOwnFile(file);
    closeSync(descriptor);
    return identity;
  });
}

function filesOf(folder: string, identityOf: (file: string) => FileIdentity): MadeFiles {
  return {
    end: identityOf(launchFileOf(folder)),
    stdout: identityOf(stdoutOf(folder)),
    stderr: identityOf(stderrOf(folder)),
  };
}

const KEPT_FILES: readonly string[] = [LAUNCH, STEP_FILES.stdout.name, STEP_FILES.stderr.name];

/** Empties the files of an old step; undefined if they are not as they were made. */
function emptiedFiles(folder: string): MadeFiles | undefined {
  try {
    if ((lstatSync(folder).mode & 0o777) !== 0o700) return undefined;
    for (const name of readdirSync(folder))
      if (!KEPT_FILES.includes(name)) unlinkSync(join(folder, name));
    return filesOf(folder, emptied);
  } catch {
    return undefined;
  }
}
