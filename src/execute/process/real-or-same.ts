import { realpathSync } from 'node:fs';

/** A path with all symbolic links resolved; the same path if it does not exist. */
export function realOrSame(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
