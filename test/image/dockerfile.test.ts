// The Dockerfile and the dev container feature, without an engine. `npm run check:image` builds and tries them.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Copy, DockerfileParser } from 'dockerfile-ast';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { root } from '../docs/documents.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const dockerfile = DockerfileParser.parse(read('Dockerfile'));
const instructions = dockerfile.getInstructions();
const wordsOf = (keyword: string) =>
  instructions
    .filter((one) => one.getKeyword() === keyword)
    .map((one) => one.getArguments().map((word) => word.getValue()));

describe('Dockerfile', () => {
  const froms = dockerfile.getFROMs();
  const stages = froms.map((from) => from.getBuildStage());

  test('every stage has a name, and begins with the official image of Node', () => {
    expect(stages).toEqual(['pack', 'install', 'raymond']);
    for (const from of froms) expect(from.getImage()).toMatch(/^node:\$\{NODE\}-bookworm-slim$/);
  });

  test('its Node is one that the package allows and that the tests use', () => {
    const [, wanted = ''] = /^>=(\d+)/.exec(JSON.parse(read('package.json')).engines.node) ?? [];
    const { matrix } = parse(read('.github/workflows/ci.yml')).jobs.linux.strategy;
    const [argument] = dockerfile.getInitialARGs().map((one) => one.getProperty()?.getValue());
    expect(Number(argument)).toBeGreaterThanOrEqual(Number(wanted));
    expect(matrix.node).toContain(Number(argument));
  });

  test('copies only what exists and what the context has, and downloads nothing by address', () => {
    expect(wordsOf('ADD')).toEqual([]);
    for (const copy of dockerfile.getCOPYs()) {
      const from = fromOf(copy);
      const sources = copy
        .getArguments()
        .map((word) => word.getValue())
        .slice(0, -1);
      if (from !== undefined) {
        expect(stages).toContain(from);
        continue;
      }
      for (const source of sources) {
        expect(existsSync(join(root, source)), source).toBe(true);
        if (source !== '.') expect(isInContext(source), source).toBe(true);
      }
    }
  });

  test('the context has everything that the package contains, and no secrets, runs or repositories', () => {
    const { files, scripts } = JSON.parse(read('package.json'));
    expect(scripts.build).toBe('node scripts/build.js');
    // The build makes dist. npm always adds the others.
    const packed = files.filter((file: string) => file !== 'dist');
    for (const file of [...packed, 'README.md', 'LICENSE', 'src', 'page', 'scripts'])
      expect(isInContext(file), file).toBe(true);
    for (const file of ['.git', '.raymond', 'node_modules', 'secrets', '.env', 'dist', 'test'])
      expect(isInContext(file), file).toBe(false);
  });

  test('works as a user without rights, below a first process that reaps', () => {
    expect(wordsOf('USER').at(-1)).toEqual(['node']);
    expect(dockerfile.getENTRYPOINTs().map((one) => one.getJSONStrings().map(wordOf))).toEqual([
      ['tini', '--'],
    ]);
    expect(dockerfile.getCMDs().map((one) => one.getJSONStrings().map(wordOf))).toEqual([
      ['raymond', '--help'],
    ]);
    // Runs, workers and servers have nothing in common that could be healthy.
    expect(wordsOf('HEALTHCHECK')).toEqual([]);
  });

  test('has the programs that rights, worktrees and connections need, and keeps no lists of packages', () => {
    const [install = ''] = wordsOf('RUN')
      .map((words) => words.join(' '))
      .filter((text) => text.includes('apt-get install'));
    for (const name of ['bubblewrap', 'ca-certificates', 'git', 'ripgrep', 'socat', 'tini'])
      expect(install.split(' ')).toContain(name);
    expect(install).toContain('--no-install-recommends');
    expect(install).toContain('rm -rf /var/lib/apt/lists/*');
  });

  test('no variable and no argument holds a secret', () => {
    const names = [...wordsOf('ENV'), ...wordsOf('ARG')].flat();
    expect(names).toEqual(['HOME=/home/node', 'NODE=24', 'AGENTS=""']);
  });
});

describe('the dev container feature', () => {
  const folder = 'devcontainer/raymond';
  const script = read(`${folder}/install.sh`);
  const option = z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('string'),
      default: z.string(),
      description: z.string(),
      proposals: z.array(z.string()).optional(),
    }),
    z.strictObject({ type: z.literal('boolean'), default: z.boolean(), description: z.string() }),
  ]);
  const schema = z.strictObject({
    id: z.literal('raymond'),
    version: z.string().regex(/^\d+\.\d+\.\d+$/),
    name: z.string(),
    description: z.string(),
    keywords: z.array(z.string()),
    options: z.record(z.string(), option),
    init: z.literal(true),
    installsAfter: z.array(z.string()),
  });
  const feature = schema.parse(JSON.parse(read(`${folder}/devcontainer-feature.json`)));

  test('installs the package of this repository', () => {
    expect(feature.options.package?.default).toBe(JSON.parse(read('package.json')).name);
    expect(script).toContain(`PACKAGE:=${feature.options.package?.default}}`);
  });

  test('its script is executable, and reads every option', () => {
    expect(statSync(join(root, folder, 'install.sh')).mode & 0o111).toBe(0o111);
    expect(spawnSync('sh', ['-n'], { input: script, encoding: 'utf8' }).stderr).toBe('');
    for (const name of Object.keys(feature.options))
      expect(script).toMatch(new RegExp(`\\$\\{?${name.toUpperCase()}\\b`));
  });

  test('says what is missing before it installs anything', () => {
    const outcome = spawnSync('/bin/sh', [join(root, folder, 'install.sh')], {
      encoding: 'utf8',
      env: { PATH: '/nowhere' },
    });
    expect(outcome.status).toBe(1);
    expect(outcome.stderr).toMatch(/raymond: (?:There is no npm|Run this script as root)/);
  });
});

function fromOf(copy: Copy): string | undefined {
  return copy.getFromFlag()?.getValue() ?? undefined;
}

function wordOf(text: { getValue(): string }): string {
  return text.getValue().replaceAll('"', '');
}

/** The last line of .dockerignore that matches decides. */
function isInContext(path: string): boolean {
  const lines = read('.dockerignore').split('\n').filter(Boolean);
  const last = lines.findLast((line) => patternOf(line.replace('!', '')).test(path));
  return last?.startsWith('!') ?? true;
}

/** A star stands for any part of a name, also for one that begins with a dot. */
function patternOf(line: string): RegExp {
  return new RegExp(`^${line.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`);
}
