import type { Dirent } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { readFileWithin, UnusableFile } from '../files/regular-file.ts';
import { messageOf } from '../model/message-of.ts';
import type { SourceFile } from '../model/source.ts';
import { unreachable } from '../model/unreachable.ts';
import { isSchemaFile } from '../parse/json-schema.ts';
import { isLikeManifest } from '../parse/manifest.ts';
import { isStateFile } from '../parse/state.ts';

/** A state is a text that a person wrote. A larger file is a mistake. */
export const MAX_STATE_BYTES = 4 * 1024 * 1024;

export const TOO_LARGE = {
  problem: `The file is larger than ${MAX_STATE_BYTES / 1024 / 1024} MiB.`,
  remedy: 'Shorten it, or move the long part to a file that the agent reads.',
} as const;

/** The states of a folder: regular files inside it after links are resolved. */
export async function readFolder(folder: string): Promise<readonly SourceFile[]> {
  const root = await realpath(folder);
  const entries = await readdir(root, { withFileTypes: true });
  const names = entries.filter(isRead).map((entry) => entry.name);
  const files: SourceFile[] = [];
  for (let from = 0; from < names.length; from += FILES_AT_ONCE) {
    const some = names.slice(from, from + FILES_AT_ONCE);
    const read = some.map(async (name) => ({ name, content: await readContent(root, name) }));
    files.push(...(await Promise.all(read)));
  }
  return files;
}

/** A folder with the name of a state is not a state, and one with the name of the manifest is a mistake. */
function isRead(entry: Dirent): boolean {
  if (isLikeManifest(entry.name)) return true;
  const isPart = isStateFile(entry.name) || isSchemaFile(entry.name);
  return isPart && (entry.isFile() || entry.isSymbolicLink());
}

const FILES_AT_ONCE = 64;

async function readContent(root: string, name: string): Promise<SourceFile['content']> {
  try {
    return { bytes: await readFileWithin(root, name, MAX_STATE_BYTES) };
  } catch (error) {
    return unusable(name, error);
  }
}

function unusable(name: string, error: unknown): SourceFile['content'] {
  const code = error instanceof UnusableFile ? error.code : 'UNREADABLE';
  switch (code) {
    case 'LEAVES-FOLDER':
      return {
        problem: `${name} is a link that leaves the folder of the workflow.`,
        remedy: 'Replace it with a copy of the file.',
      };
    case 'NOT-A-FILE':
      return {
        problem: `${name} is not a regular file.`,
        remedy: 'Replace it with a regular file.',
      };
    case 'TOO-LARGE':
      return TOO_LARGE;
    case 'OF-OTHERS':
    case 'UNREADABLE':
      return {
        problem: `${name} cannot be read: ${messageOf(error)}.`,
        remedy: 'Make sure that the file exists and that you can read it.',
      };
    default:
      return unreachable(code);
  }
}
