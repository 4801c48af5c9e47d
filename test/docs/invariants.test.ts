// ARCHITECTURE.md lists the invariants. Each is at the head of the file that keeps it, in the same words.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readDocument, root } from './documents.ts';

const src = join(root, 'src');

interface Invariant {
  readonly name: string;
  readonly statement: string;
  readonly file: string;
}

const listed: readonly Invariant[] = [
  ...readDocument('ARCHITECTURE.md').text.matchAll(
    /^\| (INV-\d+) +\| (.*?) +\| `([\w./-]+)` +\|$/gm,
  ),
].map(([, name = '', statement = '', file = '']) => ({ name, statement, file }));

const kept: readonly Invariant[] = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) => {
    const text = readFileSync(join(src, file), 'utf8');
    return invariantsIn(headOf(text)).map((invariant) => ({ ...invariant, file }));
  });

test('the list is numbered without a gap', () => {
  expect(listed.length).toBeGreaterThan(20);
  expect(listed.map(({ name }) => name)).toEqual(listed.map((_, i) => `INV-${i + 1}`));
});

test('the heads of files hold the listed invariants, in the same words, and no others', () => {
  const byNumber = (a: Invariant, b: Invariant) =>
    Number(a.name.slice(4)) - Number(b.name.slice(4));
  expect(kept.toSorted(byNumber)).toEqual(listed);
});

test('no invariant is named anywhere else in a file', () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const elsewhere = files.filter((file) => {
    const text = readFileSync(join(src, file), 'utf8');
    return /INV-\d+:/.test(text.slice(headOf(text).length));
  });
  expect(elsewhere).toEqual([]);
});

test.each([
  ['/** INV-7: One. Two. */\nimport a', [{ name: 'INV-7', statement: 'One. Two.' }]],
  [
    '/**\n * INV-7: One\n * two.\n *\n * Three.\n */\nexport a',
    [{ name: 'INV-7', statement: 'One two.' }],
  ],
  ['// INV-7: One\n// two.\n//\n// Three.\nimport a', [{ name: 'INV-7', statement: 'One two.' }]],
  ['import a\n/** INV-7: One. */', []],
])('%j', (text, expected) => {
  expect(invariantsIn(headOf(text))).toEqual(expected);
});

/** The comments before the first statement. */
function headOf(text: string): string {
  return /^(?:\/\*\*[\s\S]*?\*\/\s*|\/\/.*\n|\s+)*/.exec(text)?.[0] ?? '';
}

function invariantsIn(head: string): readonly Omit<Invariant, 'file'>[] {
  const text = head.replace(/^ *(?:\/\*\*|\*\/|\*|\/\/) ?/gm, '').replace(/ *\*\/$/gm, '');
  return [...text.matchAll(/^(INV-\d+): ([\s\S]*?)(?=\n\s*\n|\nINV-|\s*$(?![\s\S]))/gm)].map(
    ([, name = '', statement = '']) => ({ name, statement: statement.replace(/\s+/g, ' ').trim() }),
  );
}
