// The extension for VS Code is packed, and what is in the package is what its manifest names.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import '../built.ts';

const root = join(import.meta.dirname, '..', '..');
const base = mkdtempSync(join(tmpdir(), 'raymond-vsix-'));
afterAll(() => rmSync(base, { recursive: true }));

let files: readonly string[];
const inside = (path: string) => readFileSync(join(base, 'unpacked', path), 'utf8');

beforeAll(() => {
  const target = join(base, 'raymond.vsix');
  execFileSync(process.execPath, ['scripts/package-vscode.js', target], { cwd: root });
  execFileSync('unzip', ['-q', target, '-d', join(base, 'unpacked')]);
  files = readdirSync(join(base, 'unpacked'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.includes('.'))
    .sort();
}, 600_000);

test('the package has the extension, its schemas and nothing else', () => {
  expect(files).toEqual([
    '[Content_Types].xml',
    'extension.vsixmanifest',
    'extension/LICENSE.txt',
    'extension/dist/extension.cjs',
    'extension/package.json',
    'extension/readme.md',
    'extension/schemas/config.json',
    'extension/schemas/manifest.json',
    'extension/schemas/rehearsal.json',
    'extension/schemas/test.json',
  ]);
});

test('its manifest names files that exist', () => {
  const { name, main, contributes } = JSON.parse(inside('extension/package.json'));
  expect(name).toBe('raymond-workflows');
  const named: readonly { readonly url: string }[] = [
    ...contributes.yamlValidation,
    ...contributes.tomlValidation,
  ];
  for (const path of [main, ...named.map(({ url }) => url)])
    expect(files).toContain(join('extension', path));
  expect(inside('extension.vsixmanifest')).toContain('Id="raymond-workflows"');
});

test('the schemas have their addresses', () => {
  const { $id } = JSON.parse(inside('extension/schemas/manifest.json'));
  expect($id).toMatch(/^https:\/\/.*\/dist\/schemas\/manifest\.json$/);
});

test('the extension needs nothing but the editor and Node', () => {
  const code = inside('extension/dist/extension.cjs');
  const needed = [...code.matchAll(/\brequire\(["'`]([^"'`]+)["'`]\)/g)].map(([, name]) => name);
  const others = needed.filter((name = '') => !/^node:/.test(name) && name !== 'vscode');
  const builtin = execFileSync(
    process.execPath,
    ['-p', 'require("module").builtinModules.join(" ")'],
    { encoding: 'utf8' },
  ).trim();
  expect(others.filter((name = '') => !builtin.split(' ').includes(name))).toEqual([]);
  expect(needed).toContain('vscode');
});
