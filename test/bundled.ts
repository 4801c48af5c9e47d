import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Bundles a program of the tests, so that Node can run it. */
export async function bundled(
  file: URL,
): Promise<{ readonly program: string; readonly remove: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-program-'));
  const program = join(folder, basename(file.pathname).replace(/\.ts$/, '.mjs'));
  await build({
    entryPoints: [fileURLToPath(file)],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: {
      js: "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);",
    },
    logLevel: 'warning',
  });
  return { program, remove: () => rmSync(folder, { recursive: true }) };
}
