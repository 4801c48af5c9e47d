// Every decision has its own number, and the index lists each one once, in order.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readDocument, root } from './documents.ts';

const FOLDER = 'docs/decisions';
const files = readdirSync(join(root, FOLDER)).filter((name) => name !== 'README.md');

test('no two decisions have the same number', () => {
  const numbers = files.map((name) => name.slice(0, 4));
  expect(numbers.filter((number, i) => numbers.indexOf(number) !== i)).toEqual([]);
});

test.each(files)('%s has its number in its title, and the three parts', (name) => {
  const { text } = readDocument(`${FOLDER}/${name}`);
  expect(text).toMatch(new RegExp(`^# ${Number(name.slice(0, 4))}\\. \\S`));
  expect([...text.matchAll(/^## (.*)$/gm)].map(([, title]) => title)).toEqual([
    'Context',
    'Decision',
    'Consequences',
  ]);
});

test('the index lists each decision once, in order, with its title', () => {
  const rows = readDocument(`${FOLDER}/README.md`).text.matchAll(
    /^\| (\d+) +\| \[(.*)\]\((.*)\) +\|$/gm,
  );
  const expected = files.sort().map((name) => {
    const [, number, title] =
      /^# (\d+)\. (.*)\n/.exec(readDocument(`${FOLDER}/${name}`).text) ?? [];
    return { number, title, name };
  });
  expect([...rows].map(([, number, title, name]) => ({ number, title, name }))).toEqual(expected);
});
