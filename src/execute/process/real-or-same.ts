import { realpathSync } from 'node:fs';
import { attempt } from '../../model/attempt.ts';

/** A path with all symbolic links resolved; the same path if it does not exist. */
export function realOrSame(folder: string): string {
  return attempt(() => realpathSync(folder)) ?? folder;
}
