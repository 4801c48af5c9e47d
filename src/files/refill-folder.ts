/**
 * Folders that Raymond fills in the task folder of an agent. A process that the agent has left can change its
 * task folder at any moment, and may be confined, while Raymond is not. So Raymond writes and removes files
 * only in a folder beside the task folder, and renames, which follows no link.
 */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Puts files into a folder of a task folder, so that it contains exactly these. None of them can be executed.
 * `files` have paths that stay in the folder.
 */
export function refillFolder(
  folder: string,
  files: ReadonlyMap<string, string | Uint8Array>,
  mode = 0o600,
): void {
  const aside = emptyAside(folder);
  const draft = join(aside, 'new');
  mkdirSync(draft, { mode: 0o700 });
  for (const [path, content] of files) {
    const file = join(draft, path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, content, { mode, flag: 'wx' });
  }
  for (let tries = 1; ; tries++) {
    moveAway(folder, aside);
    try {
      renameSync(draft, folder);
      break;
    } catch (error) {
      // A process has put something there meanwhile.
      if (tries === MOST_TRIES) throw error;
    }
  }
  removeTree(aside);
}

const MOST_TRIES = 100;

/** Removes a folder of a task folder. What cannot be removed is left beside the task folder. */
export function removeFolder(folder: string): void {
  if (!lstatSync(folder, { throwIfNoEntry: false })) return;
  const aside = emptyAside(folder);
  moveAway(folder, aside);
  removeTree(aside);
}

/** The empty folder beside a task folder that belongs to a folder in it. No agent is named like this. */
function emptyAside(folder: string): string {
  const task = dirname(folder);
  const aside = join(dirname(task), `.${basename(task)}.${basename(folder)}`);
  removeTree(aside);
  mkdirSync(aside, { recursive: true, mode: 0o700 });
  return aside;
}

function moveAway(folder: string, aside: string): void {
  if (!lstatSync(folder, { throwIfNoEntry: false })) return;
  succeeds(() => within(folder, makeWritable));
  if (succeeds(() => renameSync(folder, join(aside, randomUUID())))) return;
  // A folder that the user cannot change can be renamed, but not moved elsewhere.
  succeeds(() => renameSync(folder, join(dirname(folder), `.old-${randomUUID()}`)));
}

/**
 * Removes a tree, however deep it is: each folder in it is moved to the top first. What the user has no right
 * to remove is left.
 */
function removeTree(top: string): void {
  const open = [''];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const place = join(top, folder);
    succeeds(() =>
      within(place, (inside) => {
        for (const name of readdirSync(inside)) {
          const path = join(inside, name);
          if (succeeds(() => unlinkSync(path))) continue;
          succeeds(() => within(path, makeWritable));
          const own = folder === '' ? name : randomUUID();
          if (folder === '' || succeeds(() => renameSync(path, join(top, own)))) open.push(own);
        }
      }),
    );
    if (folder !== '') succeeds(() => rmdirSync(place));
  }
  succeeds(() => rmdirSync(top));
}

const makeWritable = (_: string, descriptor: number) => fchmodSync(descriptor, 0o700);

/** What fails is left as it is. */
function succeeds(act: () => void): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}

/** Opens a folder, so that what is used is in it and not behind a link that has taken its place. */
export function within(folder: string, use: (inside: string, descriptor: number) => void): void {
  const flags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);
  const descriptor = openSync(folder, flags);
  try {
    use(process.platform === 'linux' ? `/proc/self/fd/${descriptor}` : folder, descriptor);
  } finally {
    closeSync(descriptor);
  }
}
