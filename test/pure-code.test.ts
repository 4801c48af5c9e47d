// The pure folders compile without a clock, randomness and Node.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const run = promisify(execFile);

const IMPURE = [
  'Date.now()',
  'new Date()',
  'Date()',
  'Math.random()',
  'process.env',
  'setTimeout(() => {}, 1)',
  'performance.now()',
  "fetch('x')",
];
const PURE = ['new Date(0).toISOString()', 'Math.max(1, 2)', '[1].toSorted()', 'new Map([[1, 2]])'];

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pure-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test('impure expressions do not compile in a pure folder, and pure ones do', async () => {
  const lines = [...IMPURE, ...PURE].map((code, i) => `export const v${i}: unknown = ${code};`);
  await writeFile(join(folder, 'expressions.mts'), lines.join('\n'));
  const config = {
    extends: join(root, 'tsconfig.pure.json'),
    files: [join(root, 'node_modules/.cache/raymond/pure-lib.d.ts')],
    include: ['expressions.mts'],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  await run('npm', ['run', '--silent', 'check:pure'], { cwd: root });
  const compiled = await run('npx', ['tsc', '-p', folder], { cwd: root }).catch((error) => error);
  const refused = [...String(compiled.stdout).matchAll(/expressions\.mts\((\d+),/g)];
  const refusedLines = [...new Set(refused.map(([, line]) => Number(line)))];
  expect(refusedLines).toEqual(IMPURE.map((_, i) => i + 1));
});
