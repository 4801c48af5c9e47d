// Bundles TypeScript code that tests and commands share, so that a command can import it.
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The exports of a file below the project's folder. */
export async function importTypeScript(file) {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-bundle-'));
  const outfile = join(folder, 'bundle.mjs');
  try {
    await build({
      absWorkingDir: root,
      entryPoints: [file],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      plugins: [ownDirname, besideItsFiles],
      // Some packages are not modules, and ask for parts of Node in their way.
      banner: {
        js: "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);",
      },
      // Parts of packages that are not installed and not used.
      external: ['pg-native', '@opentelemetry/*', 'winston*', '@dbos-inc/dbos-enterprise'],
      logLevel: 'warning',
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Files find their neighbours by their own folder, which is not the folder of the bundle. */
const ownDirname = {
  name: 'own-dirname',
  setup({ onLoad }) {
    onLoad({ filter: /\/(bench|test|src)\/.*\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const folder = JSON.stringify(dirname(path));
      return { contents: text.replaceAll('import.meta.dirname', folder), loader: 'ts' };
    });
  },
};

/** This package looks for its files beside its own code, so it stays outside of the bundle. */
const besideItsFiles = {
  name: 'beside-its-files',
  setup({ onResolve }) {
    onResolve({ filter: /^playwright-core$/ }, ({ path }) => ({
      path: import.meta.resolve(path),
      external: true,
    }));
  },
};
