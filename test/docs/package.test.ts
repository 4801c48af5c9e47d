// The published package: what it contains, and what a user can do who has nothing else.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NPM_PACKAGE } from '../../src/model/newer-raymond.ts';
import '../built.ts';
import { readDocument, root } from './documents.ts';
import { isLocal, linkProblem, linksOf, targetOf } from './links.ts';
import { type LoopbackRegistry, loopbackRegistry } from './loopback-registry.ts';

const base = mkdtempSync(join(tmpdir(), 'raymond-package-'));
const unpacked = join(base, 'package');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
let archive = '';
afterAll(() => rmSync(base, { recursive: true, maxRetries: 5 }));

beforeAll(() => {
  // Without scripts: the program is built already, and the other tests use it meanwhile.
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', base], {
    cwd: root,
  });
  archive = join(base, readdirSync(base)[0] ?? '');
  execFileSync('tar', ['-xzf', archive], { cwd: base });
});

/** For people who work on Raymond, and pictures, which are a third of the documents. All are in the repository. */
const LEFT_OUT =
  /^(?:docs\/(?:architecture|decisions|pictures)\/|bench\/|\.github\/|(?:AGENTS|ARCHITECTURE|CONTRIBUTING)\.md$)/;

test('every link of the documents leads to a file of the package, or to the repository on purpose', () => {
  const dead: string[] = [];
  const reached = new Set(['README.md']);
  for (const path of reached) {
    for (const link of linksOf(readDocument(path, unpacked)).filter(isLocal)) {
      const target = targetOf(link);
      const isLeftOut = LEFT_OUT.test(target);
      const problem = linkProblem(isLeftOut ? root : unpacked, link);
      if (problem !== undefined) dead.push(`${path}: ${problem}`);
      else if (target.endsWith('.md') && !isLeftOut) reached.add(target);
    }
  }
  expect(dead).toEqual([]);
  expect(reached.size).toBeGreaterThan(30);
});

test('it contains nothing that is only for work on Raymond', () => {
  const files = readdirSync(unpacked, { recursive: true, encoding: 'utf8' });
  expect(files.filter((file) => LEFT_OUT.test(file))).toEqual([]);
  expect(files.filter((file) => /\.test\.ts$|(^|\/)(src|page\/.*\.tsx|test)\//.test(file))).toEqual(
    [],
  );
});

test('it is called the same everywhere', () => {
  expect(manifest.name).toBe(NPM_PACKAGE);
  expect(Object.keys(manifest.bin)).toEqual(['raymond']);
  for (const address of [manifest.homepage, manifest.bugs, manifest.repository.url])
    expect(address).toContain('https://github.com/raymond-workflows/raymond');
  expect(manifest.mcpName).toBe('io.github.raymond-workflows/raymond');
});

test('the program of the package runs without any other package', () => {
  const version = execFileSync(process.execPath, ['bin/raymond.js', '--version'], {
    cwd: unpacked,
    encoding: 'utf8',
  });
  expect(version).toMatch(/^\d+\.\d+\.\d+\n$/);
});

describe('in an empty folder, with an empty npm cache and no network', () => {
  let registry: LoopbackRegistry;
  const folder = join(base, 'own');
  beforeAll(async () => {
    registry = await loopbackRegistry(new Map([[NPM_PACKAGE, archive]]));
    mkdirSync(folder);
  });
  afterAll(() => registry?.close());

  test('npm installs it, with the one package that its types need', async () => {
    await says(`npm install '${archive}'`, /added \d+ packages?/);
    const { dependencies } = JSON.parse(read('node_modules', NPM_PACKAGE, 'package.json'));
    expect(Object.keys(dependencies)).toEqual(['zod']);
    expect(registry.served).toContain('zod');
    expect(registry.served).not.toContain(NPM_PACKAGE);
  });

  test('an example runs', async () => {
    const command = 'npx raymond examples/poll --set tries=2 --set pause=0';
    await says(command, /^not ready after 2 looks$/m);
  });

  test('an own workflow is linted, tested and run', async () => {
    write('hello/START.sh', `echo "<goto input=\\"$name\\">GREET</goto>"\n`);
    write('hello/GREET.sh', `echo "<result>Hello, $RAYMOND_RESULT</result>"\n`);
    write(
      'hello/hello.test.yaml',
      'tests:\n  - name: greets\n    set: { name: you }\n    expect: { path: [START, GREET], result: "Hello, you" }\n',
    );
    await says('npx raymond lint hello', /no problems|^$/i);
    await says('npx raymond test hello', /1 passed/);
    await says('npx raymond hello --set name=you', /^Hello, you$/m);
    await says('npx raymond list', /completed/);
  });

  test('a template is copied and tested', async () => {
    await says('npx raymond init test-until-green fix', /Wrote the workflow to fix/);
    await says('npx raymond test fix', /passed/);
  });

  test('programs and type checkers find the library', async () => {
    const program = `import { readTags } from '${NPM_PACKAGE}';
import { play } from '${NPM_PACKAGE}/testing';
import type { RunEvent } from '${NPM_PACKAGE}';
const first: RunEvent['type'] = 'run-started';
const { run } = await play({ START: ['<result>ok</result>'] });
console.log(first, run.result, typeof readTags);
`;
    write('program.mts', program);
    const compiler = join(root, 'node_modules/.bin/tsc');
    const options = '--strict --module nodenext --target es2023 --skipLibCheck --types ""';
    await says(
      `'${compiler}' ${options} program.mts && node program.mjs`,
      /^run-started ok function$/m,
    );
  });

  test('the first lines of the README need no installation', async () => {
    const [block] = readDocument('README.md').blocks.filter(({ text }) => text.startsWith('npx'));
    const lines = block?.text.trimEnd().split('\n') ?? [];
    const shown = [
      /^1 is reached after 3 rounds$/m,
      /^Wrote the workflow/m,
      /^Empty passwords are/m,
    ];
    expect(lines).toHaveLength(shown.length);
    const elsewhere = mkdtempSync(join(base, 'elsewhere-'));
    for (const [at, line] of lines.entries()) {
      const command = `cd '${elsewhere}' && ${line.replace('npx', 'npx --yes')}`;
      await says(command, shown[at] ?? /never/, 'other-cache');
    }
    expect(registry.served).toContain(NPM_PACKAGE);
  });

  async function says(command: string, text: RegExp, cache = 'cache'): Promise<void> {
    const child = spawn('/bin/bash', ['-c', `{ ${command}\n} 2>&1`], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        LANG: 'C.UTF-8',
        HOME: join(base, 'home'),
        PATH: [dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
        npm_config_registry: registry.url,
        npm_config_cache: join(base, cache),
        npm_config_userconfig: join(base, 'no-npmrc'),
        npm_config_audit: 'false',
        npm_config_update_notifier: 'false',
      },
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
    const [code] = await once(child, 'close');
    expect(code, output).toBe(0);
    expect(output).toMatch(text);
  }

  const read = (...parts: string[]) => readFileSync(join(folder, ...parts), 'utf8');

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
});
