// Builds the published files: one bundle per entry, the JSON Schemas and the type declarations.
// Shared parts are split off, so that a command loads only what it needs.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { writeSchemas } from './write-schemas.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
rmSync(`${root}/dist`, { recursive: true, force: true });

await build({
  absWorkingDir: root,
  entryPoints: { cli: 'src/cli/main.ts', index: 'src/index.ts', testing: 'src/testing.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  define: { RAYMOND_VERSION_AT_BUILD: JSON.stringify(version) },
  // Bundled CommonJS packages load Node's own modules with require().
  banner: {
    js: "import{createRequire as __r}from'node:module';const require=__r(import.meta.url);",
  },
  // Shorter code loads faster at every start. Names stay, for stack traces.
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: 'warning',
});

await writeSchemas(root);

const tsc = `${root}/node_modules/.bin/tsc`;
const types = spawnSync(tsc, ['-p', 'tsconfig.types.json'], {
  cwd: root,
  stdio: 'inherit',
});
process.exitCode = types.status ?? 1;
