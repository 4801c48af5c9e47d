// Bundles the page of `raymond serve` into dist/page: one script, one style, no other files from a
// network. The server allows no inline script.
import { copyFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

export async function buildPage(outdir = `${root}/dist/page`) {
  await build({
    absWorkingDir: root,
    entryPoints: { page: 'page/main.tsx' },
    outdir,
    bundle: true,
    format: 'esm',
    splitting: true,
    chunkNames: '[name]',
    target: 'es2022',
    minify: true,
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfigRaw: {},
    charset: 'utf8',
    logLevel: 'warning',
  });
  for (const name of ['index.html', 'icon.svg']) {
    copyFileSync(`${root}/page/${name}`, `${outdir}/${name}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPage();
