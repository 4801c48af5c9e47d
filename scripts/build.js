// Builds the published files: the program, the library, the page, the JSON Schemas and the type
// declarations. With `--if-changed`, only if a source is newer than the last build.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { buildPage } from './build-page.js';
import { writeSchemas } from './write-schemas.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));

// Every command pays for each file that it loads. So the parts that commands share are a few large
// files. Each has some of these modules, and everything that they import and no earlier file has. The
// rest is split by command, so that a command loads only what it needs.
const shared = {
  start: ['src/cli/main.ts'],
  runs: ['src/world/surroundings.ts', 'src/cli/look/list.ts'],
  journals: [
    'src/world/stored-runs.ts',
    'src/cli/look/show.ts',
    'src/cli/look/logs.ts',
    'src/execute/git/lost-trees.ts',
  ],
  workflows: ['src/load/load.ts'],
  steps: ['src/world/wire.ts'],
  carry: ['src/world/carry-here.ts', 'src/cli/run/run.ts'],
};

// The option parser can start programs as commands. Raymond has no such command, and to load what
// starts processes takes a tenth of the start of `raymond --help`.
const withoutProcesses = {
  name: 'option-parser-without-processes',
  resolveId: (id, importer) =>
    id === 'node:child_process' && isOptionParser(importer) ? NO_PROCESSES : undefined,
  load: (id) => (id === NO_PROCESSES ? 'export {};' : undefined),
};
const NO_PROCESSES = '\0no-processes';

// `raymond mcp` and `raymond acp` use large parts of zod. In a shared file, every other command would also
// load them. So they have a copy of their own.
const ownZod = {
  name: 'own-zod',
  async resolveId(id, importer = '', options) {
    const isOwn = importer.endsWith(OWN) || OWNERS.test(importer);
    if (!isOwn) return undefined;
    const from = importer.endsWith(OWN) ? importer.slice(0, -OWN.length) : importer;
    const found = await this.resolve(id, from, { ...options, skipSelf: true });
    const isZod = /[\\/]node_modules[\\/]zod[\\/]/.test(found?.id ?? '');
    return isZod ? { ...found, id: `${found.id}${OWN}` } : found;
  },
  load: (id) => (id.endsWith(OWN) ? readFileSync(id.slice(0, -OWN.length), 'utf8') : undefined),
};
const OWN = '?own';
const OWNERS = /[\\/](?:src[\\/](?:mcp|acp)|@modelcontextprotocol|@agentclientprotocol)[\\/]/;

// One other character, and V8 keeps the whole file with two bytes per character, and reads it slower.
const onlyAscii = {
  name: 'only-ascii',
  generateBundle(_options, files) {
    for (const chunk of Object.values(files)) {
      if (chunk.type !== 'chunk') continue;
      const raw = /String\.raw`[^`]*[^\0-\x7f]|\\[^\0-\x7f]/.exec(chunk.code);
      if (raw) throw new Error(`An escape would change this in ${chunk.fileName}: ${raw[0]}`);
      chunk.code = chunk.code.replace(
        /[^\0-\x7f]/g,
        (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
    }
  },
};

if (process.argv.includes('--if-changed') && isBuilt()) process.exit();
rmSync(`${root}/dist`, { recursive: true, force: true });
await bundle({
  input: {
    index: 'src/index.ts',
    testing: 'src/testing.ts',
    confine: 'src/execute/rights/confine-process.ts',
    clean: 'src/execute/secrets/clean-process.ts',
  },
  output: { chunkFileNames: '[name]-[hash].js' },
});

await buildPage();
await writeSchemas(root);

const tsc = `${root}/node_modules/.bin/tsc`;
const types = spawnSync(tsc, ['-p', 'tsconfig.types.json'], {
  cwd: root,
  stdio: 'inherit',
});
if (types.status !== 0) process.exit(types.status ?? 1);
keepTypesOf(['index.d.ts', 'testing.d.ts']);

// The program comes last: if it exists, the build is complete.
// Node starts CommonJS files sooner than ES modules. No other program imports these files.
await bundle({
  input: { cli: 'src/cli/main.ts' },
  plugins: [withoutProcesses, ownZod],
  output: {
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    // Compiled code that was kept cannot import.
    dynamicImportInCjs: false,
    codeSplitting: { groups: Object.entries(shared).map(sharedFile) },
  },
});

/** Whether nothing has changed since the last build. */
function isBuilt() {
  const program = statSync(`${root}/dist/cli.cjs`, { throwIfNoEntry: false });
  const folders = ['src', 'page', 'scripts'].flatMap((folder) => [
    folder,
    ...readdirSync(`${root}/${folder}`, { recursive: true }).map((file) => `${folder}/${file}`),
  ]);
  const sources = [...folders, 'package.json', 'package-lock.json', 'tsconfig.types.json'];
  const times = sources.map((file) => statSync(`${root}/${file}`).mtimeMs);
  return program !== undefined && program.mtimeMs > Math.max(...times);
}

/** The compiler also writes the types of modules that no type of the library needs. */
function keepTypesOf(entries) {
  const folder = `${root}/dist/types`;
  const needed = new Set(entries);
  for (const file of needed) {
    const text = readFileSync(join(folder, file), 'utf8');
    for (const [, path] of text.matchAll(/(?:from|import|import\() ?["'](\.[^"']+)\.[jt]s["']/g))
      needed.add(join(dirname(file), `${path}.d.ts`));
  }
  for (const file of readdirSync(folder, { recursive: true }))
    if (file.endsWith('.d.ts') && !needed.has(file)) rmSync(join(folder, file));
}

async function bundle({ output, plugins = [], ...input }) {
  const made = await rolldown({
    cwd: root,
    platform: 'node',
    transform: {
      target: 'node20.19',
      define: { RAYMOND_VERSION_AT_BUILD: JSON.stringify(version) },
    },
    // The library for workers can use these packages if a program has them. Raymond has not.
    external: [
      /^@opentelemetry\//,
      /^winston/,
      '@dbos-inc/dbos-enterprise',
      '@anthropic-ai/sandbox-runtime',
    ],
    // For Node, the package names a CommonJS build, of which nothing can be left out.
    resolve: { alias: { yaml: `${root}/node_modules/yaml/browser/index.js` } },
    ...input,
    plugins: [...plugins, onlyAscii],
  });
  await made.write({
    dir: `${root}/dist`,
    // Shorter code loads faster at every start. The names of functions stay, for stack traces.
    minify: {
      compress: true,
      mangle: { keepNames: true },
      codegen: { removeWhitespace: true },
    },
    ...output,
  });
  await made.close();
}

function isOptionParser(module = '') {
  return /[\\/]node_modules[\\/]commander[\\/]/.test(module);
}

function sharedFile([name, firsts], index) {
  const isPart = (module, graph) =>
    firsts.some((first) => importsOf(join(root, first), graph).has(module));
  return {
    debugName: name,
    name: (module, graph) => (isPart(module, graph) ? name : null),
    priority: Object.keys(shared).length - index,
  };
}

/** The module and everything that it imports. */
function importsOf(module, graph) {
  const found = new Set([module]);
  for (const one of found) {
    for (const imported of graph.getModuleInfo(one)?.importedIds ?? []) found.add(imported);
  }
  return found;
}
