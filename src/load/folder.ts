import { constants } from 'node:fs';
import { open, readdir, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import type { SourceFile } from '../model/source.ts';
import { isStateFile } from '../parse/state.ts';

/** A state is a text that a person wrote; what is larger was put there by mistake. */
export const MAX_STATE_BYTES = 4 * 1024 * 1024;

export const TOO_LARGE = {
  problem: `The file is larger than ${MAX_STATE_BYTES / 1024 / 1024} MiB.`,
  remedy: 'Shorten it, or let the agent read the long part from a file.',
} as const;

/** The states of a folder: regular files that really lie in it. */
export async function readFolder(folder: string): Promise<readonly SourceFile[]> {
  const root = await realpath(folder);
  const entries = await readdir(root, { withFileTypes: true });
  const names = entries
    .filter((entry) => isStateFile(entry.name) && (entry.isFile() || entry.isSymbolicLink()))
    .map((entry) => entry.name);
  const files: SourceFile[] = [];
  for (let from = 0; from < names.length; from += FILES_AT_ONCE) {
    const some = names.slice(from, from + FILES_AT_ONCE);
    const read = some.map(async (name) => ({ name, content: await readContent(root, name) }));
    files.push(...(await Promise.all(read)));
  }
  return files;
}

const FILES_AT_ONCE = 64;

async function readContent(root: string, name: string): Promise<SourceFile['content']> {
  try {
    const real = await realpath(join(root, name));
    if (leaves(root, real)) {
      return {
        problem: `${name} is a link that leaves the folder of the workflow.`,
        remedy: 'Put a copy in its place.',
      };
    }
    return await readRegular(real, name);
  } catch (error) {
    return {
      problem: `${name} cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
      remedy: 'See to it that the file is there and that you may read it.',
    };
  }
}

function leaves(root: string, real: string): boolean {
  const way = relative(root, real);
  return way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way);
}

async function readRegular(real: string, name: string): Promise<SourceFile['content']> {
  // Without O_NONBLOCK a named pipe would keep us waiting.
  const file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile()) {
      return { problem: `${name} is not a regular file.`, remedy: 'Put a file in its place.' };
    }
    if (found.size > MAX_STATE_BYTES) return TOO_LARGE;
    return { bytes: await file.readFile() };
  } finally {
    await file.close();
  }
}
