/** The folder of notes in the task folder of an agent. Agents write in it, so nothing in it is trusted. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { refillFolder, removeFolder, within } from './refill-folder.ts';
import { readWithIdentity } from './regular-file.ts';

/** The names and sizes that notes can have. */
interface NoteRules {
  readonly isPath: (path: string) => boolean;
  readonly most: { readonly files: number; readonly bytes: number; readonly allBytes: number };
}

/** For the agents with these task folders. */
export const notesIn = (task: (agent: string) => string, rules: NoteRules) => ({
  /** Replaces everything in the folder. A step that may only read gets files that it cannot write. */
  put: (agent: string, files: ReadonlyMap<string, string>, may: 'read' | 'write') => {
    // A journal of somebody else can name other paths.
    const named = [...files].filter(([path]) => rules.isPath(path));
    refillFolder(join(task(agent), 'notes'), new Map(named), may === 'write' ? 0o600 : 0o400);
  },
  read: (agent: string) => readNotes(task(agent), rules),
  remove: (agent: string) => removeFolder(join(task(agent), 'notes')),
  digest: (content: Uint8Array) => createHash('sha256').update(content).digest('hex'),
});

interface FoundNotes {
  readonly files: ReadonlyMap<string, Buffer>;
  /** Paths that cannot be notes, with the reasons. */
  readonly refused: ReadonlyMap<string, string>;
  /** False if the folder has so many entries that the rest was not read. */
  readonly isWhole: boolean;
}

/** Undefined if there is no folder. No link is followed, even if a process puts it there meanwhile. */
function readNotes(taskFolder: string, { isPath, most }: NoteRules): FoundNotes | undefined {
  const found = lstatSync(join(taskFolder, 'notes'), { throwIfNoEntry: false });
  if (!found?.isDirectory()) return undefined;
  const files = new Map<string, Buffer>();
  const refused = new Map<string, string>();
  let bytes = 0;
  const read = (path: string, place: string) => {
    if (!isPath(path)) return 'its name has other characters than letters, digits, spaces and _.-';
    if (files.size >= most.files) return `the folder has more than ${most.files} files`;
    const content = readWithIdentity(place, most.bytes).bytes;
    if (bytes + content.length > most.allBytes)
      return `all files together have more than ${most.allBytes / 1024} KiB`;
    bytes += content.length;
    files.set(path, content);
    return undefined;
  };
  let seen = 0;
  const walk = (place: string, path: string) =>
    within(place, (inside) => {
      for (const entry of readdirSync(inside, { withFileTypes: true })) {
        seen += 1;
        if (seen > MOST_ENTRIES) return;
        const own = `${path}${entry.name}`;
        const at = join(inside, entry.name);
        if (entry.isDirectory() && own.split('/').length < MOST_DEPTH) walk(at, `${own}/`);
        else {
          const why = entry.isDirectory() ? 'it is too deep' : attemptText(() => read(own, at));
          if (why !== undefined) refused.set(own, why);
        }
      }
    });
  within(taskFolder, (task) => walk(join(task, 'notes'), ''));
  return { files, refused, isWhole: seen <= MOST_ENTRIES };
}

const MOST_ENTRIES = 1_000;
const MOST_DEPTH = 4;

function attemptText(act: () => string | undefined): string | undefined {
  try {
    return act();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'TOO-LARGE') return 'it is too large';
    return 'it is no regular file, or has a second name';
  }
}
