import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { confinementOf } from './confinement.ts';

function folderWith(...files: readonly string[]): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-places-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), '');
  }
  return folder;
}

const accessIn = (cwd: string, write: readonly string[], protects: readonly string[] = []) => {
  const rights = { write: [write], hide: [], network: [] };
  const guarded = { protects, hides: [], shows: [], ownFolder: cwd };
  const { places } = confinementOf(rights, { cwd }, guarded);
  const inside = places.filter(({ path }) => path.startsWith(`${cwd}/`));
  return Object.fromEntries(inside.map(({ path, access }) => [path.slice(cwd.length + 1), access]));
};

test('folders between a writable one and a protected file cannot be renamed', () => {
  const cwd = folderWith('a/b/START.sh');
  expect(accessIn(cwd, ['.'], [join(cwd, 'a/b/START.sh')])).toEqual({
    a: 'write',
    'a/b': 'write',
    'a/b/START.sh': 'read',
  });
});

test('a folder in which nothing is protected is no mount', () => {
  expect(accessIn(folderWith('a/b/file'), ['.'])).toEqual({});
});

test('the repository itself cannot be renamed, and what git executes in it cannot be changed', () => {
  expect(accessIn(folderWith('.git/config', '.git/hooks/x'), ['.'])).toMatchObject({
    '.git': 'write',
    '.git/config': 'read',
    '.git/hooks': 'read',
  });
});

test('a path that an agent has replaced by a link out of its directory is not writable', () => {
  const cwd = folderWith('file');
  symlinkSync('/etc', join(cwd, 'out'));
  expect(accessIn(cwd, ['out'])).toEqual({});
});

test('the packages of the sandbox cannot be changed, even in a project that has them', () => {
  const project = realpathSync(join(import.meta.dirname, '../../..'));
  expect(accessIn(project, ['.'])).toMatchObject({
    node_modules: 'write',
    'node_modules/@anthropic-ai': 'read',
    'node_modules/@pondwader': 'read',
    'node_modules/node-forge': 'read',
  });
});
