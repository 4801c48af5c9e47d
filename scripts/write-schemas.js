// Writes the JSON Schemas that are published with the program. They are generated from the tables and
// schemas with which the program reads those files, so they always agree.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

export async function writeSchemas(root) {
  const bundle = `${root}/dist/schemas/make.mjs`;
  mkdirSync(`${root}/dist/schemas`, { recursive: true });
  await build({
    absWorkingDir: root,
    stdin: {
      contents: `
        import { AGENTS } from './src/execute/agents/agents.ts';
        import { schemas } from './src/schemas/schemas.ts';
        export const made = schemas(AGENTS, ${JSON.stringify(address(root))});`,
      loader: 'ts',
      resolveDir: root,
    },
    outfile: bundle,
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    logLevel: 'warning',
  });
  const { made } = await import(pathToFileURL(bundle).href);
  rmSync(bundle);
  for (const [name, schema] of Object.entries(made)) {
    writeFileSync(`${root}/dist/schemas/${name}.json`, `${JSON.stringify(schema, null, 2)}\n`);
  }
}

/** Where the files of a published package are served. The address follows the name of the package. */
function address(root) {
  const { name } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
  return `https://unpkg.com/${name}/dist/schemas`;
}
