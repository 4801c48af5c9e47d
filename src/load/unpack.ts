import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { NamedBytes } from '../files/packed-files.ts';
import { readFileWithin } from '../files/regular-file.ts';

/** A folder below `into` that contains exactly these files. `key` identifies the source. */
export function unpack(
  files: readonly NamedBytes[],
  into: string,
  name: string,
  key: string,
): Promise<string> {
  const safeName = name.replace(/[^A-Za-z0-9._-]+/g, '_').slice(0, 40);
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 16);
  return filledFolder(join(into, `${safeName}-${hash}`), '', files, () => true);
}

/**
 * A folder that contains these files at `root`. It never appears incomplete. A folder with other contents
 * is replaced, and so is one in which another file would be a part of the workflow.
 */
export async function filledFolder(
  folder: string,
  root: string,
  files: readonly NamedBytes[],
  isPart: (name: string) => boolean,
): Promise<string> {
  // A step may be executing a script of it.
  if (await holds(join(folder, root), files, isPart)) return folder;
  const fresh = `${folder}.${randomUUID()}`;
  try {
    await write(join(fresh, root), files);
    await rm(folder, { recursive: true, force: true });
    await rename(fresh, folder);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    // Another process may have put the same files there in the meantime.
    if (!(await holds(join(folder, root), files, isPart))) throw error;
  }
  return folder;
}

async function write(root: string, files: readonly NamedBytes[]): Promise<void> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  for (const { name, bytes, mode = 0 } of files) {
    await mkdir(dirname(join(root, name)), { recursive: true, mode: 0o700 });
    await writeFile(join(root, name), bytes, { mode: 0o600 | (mode & 0o100), flag: 'wx' });
  }
}

async function holds(
  root: string,
  files: readonly NamedBytes[],
  isPart: (name: string) => boolean,
): Promise<boolean> {
  const names = new Set(files.map(({ name }) => name));
  try {
    for (const { name, bytes } of files)
      if (!(await readFileWithin(root, name, bytes.length)).equals(bytes)) return false;
    const found = await readdir(root);
    return found.every((name) => names.has(name) || !isPart(name));
  } catch {
    return false;
  }
}
