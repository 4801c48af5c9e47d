// Bundles the script of the page of a diagram into src/draw/page-script.ts. The pure folder gets it as
// text, with the hash by which the page allows it. Run by hand: npm run page
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
export const target = `${root}/src/draw/page-script.ts`;

export async function pageScript() {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['src/page/diagram-page.ts'],
    bundle: true,
    format: 'iife',
    target: 'es2022',
    minify: true,
    write: false,
    charset: 'ascii',
    logLevel: 'warning',
  });
  const text = outputFiles[0]?.text.trim() ?? '';
  const hash = createHash('sha256').update(text).digest('base64');
  return `// Made from src/page by \`npm run page\`. Do not edit.
export const PAGE_SCRIPT = ${JSON.stringify(text)};
export const PAGE_SCRIPT_HASH = '${hash}';
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(target, await pageScript());
