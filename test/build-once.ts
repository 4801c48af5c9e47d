/** Some tests run the same bin/raymond.js as users. So it is built first, if a source file is newer. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

export function setup(): void {
  const built = join(root, 'dist', 'cli.cjs');
  if (existsSync(built) && statSync(built).mtimeMs > newestSource()) return;
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'build.js')], {
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('The build failed.');
}

function newestSource(): number {
  const times = ['src', 'page'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
      (file) => statSync(join(root, folder, file)).mtimeMs,
    ),
  );
  return Math.max(...times);
}
