// A command loads few files, and only the libraries that it needs: every start pays for them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const dist = join(import.meta.dirname, '..', '..', 'dist');
const names = readdirSync(dist);
const text = (name: string) => readFileSync(join(dist, name), 'utf8');

/** The files that are loaded together with these. */
function loadedWith(...entries: readonly string[]): readonly string[] {
  const loaded = new Set(entries);
  for (const name of loaded) {
    for (const [, other = ''] of text(name).matchAll(/(?:\bfrom|^import|;import)"\.\/([^"]+)"/g)) {
      loaded.add(other);
    }
  }
  return [...loaded];
}

const built = (stem: string) => {
  const found = names.filter((name) => new RegExp(`^${stem}-[\\w-]{8}\\.js$`).test(name));
  expect(found, stem).not.toEqual([]);
  return found;
};

/** A class of each library, as it is bundled. */
const LIBRARIES = new Map([
  ['commander', 'CommanderError=class'],
  ['zod', '$ZodAsyncError=class'],
  ['yaml', 'YAMLParseError=class'],
  ['re2js', 'RE2JSException=class'],
  ['smol-toml', 'TomlError=class'],
]);

const librariesIn = (files: readonly string[]) => {
  const all = files.map(text).join('\n');
  return [...LIBRARIES].flatMap(([name, part]) => (all.includes(part) ? [name] : []));
};

test('each library is found in the files', () => {
  expect(librariesIn(names.filter((name) => name.endsWith('.js')))).toEqual([...LIBRARIES.keys()]);
});

test('the help loads three files, and one library', () => {
  const files = loadedWith('cli.js');
  expect(files).toHaveLength(3);
  expect(librariesIn(files)).toEqual(['commander']);
});

test.each(['list', 'show', 'logs', 'stop'])('%s reads no workflow, so it loads no YAML', (name) => {
  const files = loadedWith('cli.js', ...built('runs'), ...built(name));
  expect(files.length).toBeLessThanOrEqual(8);
  expect(librariesIn(files)).toEqual(['commander', 'zod']);
});

test('the library does not load the option parser', () => {
  expect(librariesIn(loadedWith('index.js', 'testing.js'))).not.toContain('commander');
});
