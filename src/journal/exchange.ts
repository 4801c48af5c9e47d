import { dirname } from 'node:path';
import { type Disk, hasCode } from './disk.ts';

/**
 * Replaces a file with a complete one. Keeps the old file under the name `aside-1`, or with the next
 * free number, and returns that name. The path always exists.
 */
export async function exchange(
  disk: Disk,
  path: string,
  complete: string,
  aside: string,
): Promise<string> {
  let kept: string | undefined;
  try {
    kept = await nameAside(disk, path, aside);
    await disk.rename(complete, path);
  } catch (error) {
    for (const name of [complete, kept]) if (name) await disk.unlink(name).catch(() => {});
    throw error;
  }
  await disk.syncFolder(dirname(path));
  return kept;
}

/** A second name for a file. */
export async function nameAside(disk: Disk, path: string, aside: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = `${aside}-${number}`;
    try {
      await disk.link(path, name);
      return name;
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
  }
}
