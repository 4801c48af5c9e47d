// The documents of the architecture name functions and their files. Both must exist. If a function
// was moved, UPDATE_DOCS=1 corrects the file beside its name.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { documents, root } from './documents.ts';

const src = join(root, 'src');
const architecture = documents.filter(({ path }) =>
  /^(?:ARCHITECTURE\.md$|docs\/architecture\/)/.test(path),
);
const texts = new Map(
  readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => [file, readFileSync(join(src, file), 'utf8')]),
);
/** `name` (`file.ts`), or `name` in `file.ts`. */
const PAIR = /`([\w.]+)`( \(| in )`([\w./-]+\.ts)`/g;

if (process.env.UPDATE_DOCS) {
  for (const { path, text } of architecture) {
    const right = text.replace(PAIR, (pair, name: string, between: string, file: string) => {
      const [home, ...others] = has(file, name) ? [] : homesOf(name);
      return home === undefined || others.length > 0 ? pair : `\`${name}\`${between}\`${home}\``;
    });
    if (right !== text) writeFileSync(join(root, path), right);
  }
}

const names = architecture.flatMap(({ path }) =>
  [...readFileSync(join(root, path), 'utf8').matchAll(PAIR)].map(([, name = '', , file = '']) => ({
    path,
    name,
    file,
  })),
);
test('the documents contain names', () => expect(names.length).toBeGreaterThan(100));
test.each(names)('$path: $name is in $file', ({ name, file }) => {
  expect(has(file, name), `it is declared in: ${homesOf(name).join(', ') || 'no file'}`).toBe(true);
});

test.each([
  'what a tag means',
  'how a permission request reaches a phone',
  'a column of `raymond list`',
  'how a killed script is recognised',
])('the map names one file for: %s', (change) => {
  const map = architecture.find(({ path }) => path === 'ARCHITECTURE.md')?.text ?? '';
  const rows = map.split('\n').filter((line) => line.startsWith(`| ${change}`));
  expect(rows.map((row) => [...row.matchAll(PAIR)].length)).toEqual([1]);
});

const paths = architecture.flatMap(({ text }) =>
  [...text.matchAll(/`((?:test|docs|bin|scripts)\/[\w./-]*)`/g)].map(([, path = '']) => path),
);
test.each([...new Set(paths)])('%s exists', (path) => {
  expect(existsSync(join(root, path))).toBe(true);
});

const folders = readdirSync(src, { withFileTypes: true });
test.each(folders.map(({ name }) => name))('src/%s is on the map and in the index', (name) => {
  const naming = architecture.filter(({ text }) => text.includes(`\`src/${name}\``));
  expect(naming.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['ARCHITECTURE.md', 'docs/architecture/index.md']),
  );
});

function has(file: string, name: string): boolean {
  return new RegExp(`\\b${lastPart(name)}\\b`).test(texts.get(file) ?? '');
}

/** The files that export a name, or else those that declare it. */
function homesOf(name: string): readonly string[] {
  const [first = name] = name.split('.');
  const filesWith = (start: string) => {
    const kinds = '(?:async )?(?:function|const|class|interface|type)';
    const declares = new RegExp(`^${start}${kinds} ${first}\\b`, 'm');
    return [...texts].filter(([, text]) => declares.test(text)).map(([file]) => file);
  };
  const exporting = filesWith('export ');
  return exporting.length > 0 ? exporting : filesWith('');
}

function lastPart(name: string): string {
  return name.split('.').at(-1) ?? name;
}
