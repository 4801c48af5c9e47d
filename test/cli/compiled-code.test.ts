// The compiled code of the program is kept for later starts, where only the user can change it.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import '../built.ts';

const root = join(import.meta.dirname, '..', '..');
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'raymond-compiled-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const kept = () => join(folder, 'raymond', 'compiled');

function start(program = root, word = '--version') {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(program, 'bin/raymond.js'), word],
    {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, XDG_STATE_HOME: folder },
    },
  );
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return stdout;
}

function files(): readonly string[] {
  const found = readdirSync(kept(), { recursive: true, encoding: 'utf8' });
  return found.filter((name) => statSync(join(kept(), name)).isFile());
}

test('a start without a folder of the user makes none', () => {
  start();
  expect(readdirSync(folder)).toEqual([]);
});

test('code is kept in the folder of the user, for this user only', () => {
  mkdirSync(join(folder, 'raymond'), { mode: 0o700 });
  const first = start();
  expect(files().length).toBeGreaterThan(0);
  expect(statSync(kept()).mode & 0o777).toBe(0o700);
  expect(start()).toBe(first);
});

test.runIf(process.getuid)('code is neither read nor written where others could change it', () => {
  mkdirSync(join(folder, 'raymond'));
  chmodSync(join(folder, 'raymond'), 0o770);
  start();
  expect(readdirSync(join(folder, 'raymond'))).toEqual([]);
});

test('the code of another version is removed', () => {
  mkdirSync(join(kept(), '0.0.1', 'v1'), { recursive: true, mode: 0o700 });
  start();
  expect(readdirSync(kept())).not.toContain('0.0.1');
});

test('each file of the program is whole, private and of one build', () => {
  mkdirSync(join(folder, 'raymond'), { mode: 0o700 });
  start();
  for (const file of files()) {
    expect(statSync(join(kept(), file)).mode & 0o777).toBe(0o600);
    expect(file).toMatch(/-[\w-]{8}\.cjs$/);
  }
  expect(files().some((file) => /\bstart-/.test(file))).toBe(true);
});

test.each([
  ['damaged', (code: Buffer) => code.fill(1, 2000, 3000)],
  ['cut off', (code: Buffer) => code.subarray(0, 1000)],
  ['empty', () => Buffer.alloc(0)],
])('a file that is %s is replaced', (_, change) => {
  mkdirSync(join(folder, 'raymond'), { mode: 0o700 });
  start();
  const all = files().map((file) => join(kept(), file));
  const contents = () => all.map((file) => readFileSync(file));
  const sizes = contents().map(({ length }) => length);
  for (const file of all) writeFileSync(file, change(readFileSync(file)));
  start();
  const replaced = contents();
  expect(replaced.every(({ length }, i) => length > (sizes[i] ?? 0) / 2)).toBe(true);
  start();
  expect(contents()).toEqual(replaced);
  expect(files()).toHaveLength(all.length);
});

test('another build of the same version does not get the code of the first', () => {
  mkdirSync(join(folder, 'raymond'), { mode: 0o700 });
  start();
  // The same names and lengths, another content: only files that are named by their content are kept.
  const other = join(folder, 'other');
  for (const part of ['bin', 'package.json'])
    cpSync(join(root, part), join(other, part), { recursive: true });
  mkdirSync(join(other, 'dist'));
  const size = statSync(join(root, 'dist/cli.cjs')).size;
  const text = "exports.main = () => process.stdout.write('other\\n');";
  writeFileSync(join(other, 'dist/cli.cjs'), text.padEnd(size));
  expect(start(other)).toBe('other\n');
});
