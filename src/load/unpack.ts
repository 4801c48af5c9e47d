import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readFileWithin } from '../files/regular-file.ts';

export interface Unpacked {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * A folder below `into` that contains exactly these files. It never appears incomplete.
 * A folder with other contents is replaced. `key` identifies the source.
 */
export async function unpack(
  files: readonly Unpacked[],
  into: string,
  name: string,
  key: string,
): Promise<string> {
  const safeName = name.replace(/[^A-Za-z0-9._-]+/g, '_').slice(0, 40);
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 16);
  const folder = join(into, `${safeName}-${hash}`);
  if (await holds(folder, files)) return folder;

  const fresh = `${folder}.${randomUUID()}`;
  await mkdir(fresh, { recursive: true, mode: 0o700 });
  try {
    for (const { name: file, bytes } of files) {
      await writeFile(join(fresh, file), bytes, { mode: 0o600, flag: 'wx' });
    }
    await rm(folder, { recursive: true, force: true });
    await rename(fresh, folder);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    // Another process may have put the same files there in the meantime.
    if (!(await holds(folder, files))) throw error;
  }
  return folder;
}

async function holds(folder: string, files: readonly Unpacked[]): Promise<boolean> {
  try {
    if ((await readdir(folder)).length !== files.length) return false;
    for (const { name, bytes } of files) {
      if (!(await readFileWithin(folder, name, bytes.length)).equals(bytes)) return false;
    }
    return true;
  } catch {
    return false;
  }
}
