import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Puts files into a folder of a task folder. Those that were there are removed, so that it contains exactly
 * these. None of them can be executed.
 */
export function refillFolder(
  folder: string,
  files: ReadonlyMap<string, string | Uint8Array>,
): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  for (const [name, content] of files)
    writeFileSync(join(folder, name), content, { mode: 0o600, flag: 'wx' });
}
