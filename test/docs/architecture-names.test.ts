// ARCHITECTURE.md names functions and their files. Both must exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readDocument, root } from './documents.ts';

const { text } = readDocument('ARCHITECTURE.md');

const names = [...text.matchAll(/`([\w.]+)` \(`([\w./-]+\.ts)`\)/g)].map(
  ([, name = '', file = '']) => ({ name: name.split('.').at(-1) ?? name, file }),
);
test('the document contains names', () => expect(names.length).toBeGreaterThan(30));
test.each(names)('$name is in $file', ({ name, file }) => {
  expect(readFileSync(join(root, 'src', file), 'utf8')).toMatch(new RegExp(`\\b${name}\\b`));
});

const paths = [...text.matchAll(/`((?:test|docs|bin)\/[\w./-]*)`/g)].map(([, path = '']) => path);
test.each([...new Set(paths)])('%s exists', (path) => {
  expect(existsSync(join(root, path))).toBe(true);
});

const folders = readdirSync(join(root, 'src'), { withFileTypes: true });
test.each(folders.map(({ name }) => name))('src/%s is in the code map', (name) => {
  expect(text).toContain(`\`src/${name}\``);
});
