import { copyFile, stat, utimes } from 'node:fs/promises';

/** Copies an index with its times, from which git sees which files it need not read again. */
export async function copyIndex(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to);
    const { atime, mtime } = await stat(from);
    await utimes(to, atime, mtime);
  } catch (error) {
    // A new repository has no index yet.
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}
