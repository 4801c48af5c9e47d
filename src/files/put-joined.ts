import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Puts the results of a join into `joined` of a task folder, one file for each child. The files of
 * an earlier join are removed, so that the folder contains exactly the results of this one.
 */
export function putJoined(taskFolder: string, results: ReadonlyMap<string, string>): void {
  const folder = join(taskFolder, 'joined');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  for (const [child, result] of results)
    writeFileSync(join(folder, child), result, { mode: 0o600, flag: 'wx' });
}
