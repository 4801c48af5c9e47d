// Decisions are numbered without gaps, and each has a date, a status and three parts.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decisionRecords } from './decision-records.ts';
import { documents, root } from './documents.ts';

const records = decisionRecords();
const names = new Set(records.map(({ file }) => file));

test('the numbers have no gaps', () => {
  const numbers = records.map(({ file }) => Number(file.slice(0, 4)));
  expect(numbers).toEqual(records.map((_, i) => i + 1));
});

test.each(records)('$file has its number, a date, a status and the three parts', (record) => {
  expect(record.number).toBe(Number(record.file.slice(0, 4)));
  expect(record.status).toMatch(/^(?:accepted(?:, amended by \[.*\))?|superseded by \[.*\))$/);
  expect([...record.text.matchAll(/^## (.*)$/gm)].map(([, title]) => title)).toEqual([
    'Context',
    'Decision',
    'Consequences',
  ]);
});

test('the number beside a link is that of the linked record', () => {
  const links = documents.flatMap(({ path, text }) =>
    [...text.matchAll(/\[(?:decision )?(\d+)\]\([^)]*?(\d{4})-[a-z0-9-]+\.md\)/gi)].map(
      ([link, said, linked]) => ({ path, link, isRight: Number(said) === Number(linked) }),
    ),
  );
  expect(links.length).toBeGreaterThan(30);
  expect(links.filter(({ isRight }) => !isRight)).toEqual([]);
});

test('every record that the source names exists', () => {
  const src = join(root, 'src');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' });
  const lost = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const text = readFileSync(join(src, file), 'utf8');
      return [...text.matchAll(/docs\/decisions\/([\w-]+\.md)/g)].map(([, name = '']) => name);
    })
    .filter((name) => !names.has(name));
  expect(lost).toEqual([]);
});
