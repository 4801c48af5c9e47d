// Bundles the page of `raymond serve` into dist/page: one script, one style, no other files from a
// network. The server allows no inline script.
import { copyFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

const SHARED = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  legalComments: 'none',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  tsconfigRaw: {},
  charset: 'utf8',
  logLevel: 'warning',
};

// Its own bundle: together, both would need a third file with a few lines that they share.
const HIGHLIGHT = {
  name: 'highlight',
  setup: (builder) =>
    builder.onResolve({ filter: /\/highlight\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './highlight.js', external: true } : undefined,
    ),
};

export async function buildPage(outdir = `${root}/dist/page`) {
  await build({
    ...SHARED,
    entryPoints: { page: 'page/main.tsx' },
    outdir,
    splitting: true,
    chunkNames: '[name]',
    plugins: [HIGHLIGHT],
  });
  await build({ ...SHARED, entryPoints: { highlight: 'page/lib/highlight.ts' }, outdir });
  for (const name of ['index.html', 'icon.svg']) {
    copyFileSync(`${root}/page/${name}`, `${outdir}/${name}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPage();
