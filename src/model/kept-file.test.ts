import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { filesProblem, mostBytes, safeName, safeNames, sizeText } from './kept-file.ts';

test.each([
  ['report.pdf', 'report.pdf'],
  ['Ärger ü.txt', 'Ärger ü.txt'],
  ['../../etc/passwd', 'passwd'],
  ['C:\\Users\\ann\\plan.docx', 'plan.docx'],
  ['.bashrc', 'bashrc'],
  ['-rf', 'rf'],
  ['~root', 'root'],
  ['a\u202Egnp.exe', 'agnp.exe'],
  ['a\x1b[31mb\nc\0.txt', 'a[31mbc.txt'],
  ['what?<is>"this"|*.md', 'whatisthis.md'],
  ['$(rm)`x`.sh', '(rm)x.sh'],
  ['  two   words .md. ', 'two words .md'],
  ['NUL.txt', '_NUL.txt'],
  ['com1', '_com1'],
  ['', 'file'],
  ['..', 'file'],
  ['///', 'file'],
  [`${'x'.repeat(300)}.pdf`, `${'x'.repeat(56)}.pdf`],
])('the name %j of a file that a person sends becomes %j', (name, safe) => {
  expect(safeName(name)).toBe(safe);
});

test('names that are equal on some disk get numbers', () => {
  expect(safeNames(['a.md', 'b/a.md', 'A.MD', 'a-2.md', 'a.md'])).toEqual([
    ...['a.md', 'a-2.md', 'A-3.MD', 'a-2-2.md', 'a-4.md'],
  ]);
});

test('whatever people send, the names are different parts of paths', () => {
  const name = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('.', '/', '\\', ' ', 'a', '\u202e', '\n', '\0', '-') }),
  );
  fc.assert(
    fc.property(fc.array(name, { maxLength: 20 }), (names) => {
      const safe = safeNames(names);
      expect(safe).toHaveLength(names.length);
      expect(new Set(safe.map((one) => one.toLowerCase())).size).toBe(names.length);
      for (const one of safe) {
        expect(one).toMatch(/^[^/\\\p{C}]+$/u);
        expect(one).not.toMatch(/^[.~-]|^\s|[\s.]$/);
        expect(Buffer.byteLength(one)).toBeLessThanOrEqual(255);
      }
    }),
  );
});

describe('the files of one answer', () => {
  const file = (bytes: number) => ({ name: 'a', bytes, sha256: 'a'.repeat(64) });
  const most = mostBytes({});
  test.each([
    [[], undefined],
    [[file(most)], undefined],
    [[file(most), file(1)], /20 MiB together, and at most 20 MiB/],
    [Array.from({ length: 21 }, () => file(1)), /There are 21 files, and at most 20/],
    [Array.from({ length: 10_000 }, () => file(0)), /There are 10000 files/],
  ])('case %#', (files, problem) => {
    const found = filesProblem(files, most);
    if (problem) expect(found).toMatch(problem);
    else expect(found).toBeUndefined();
  });

  test('the limit can be raised, but not without an end', () => {
    expect(mostBytes({ maxFilesMib: 50 })).toBe(50 * 1024 * 1024);
    expect(mostBytes({ maxFilesMib: 1e9 })).toBe(256 * 1024 * 1024);
  });
});

test.each([
  [0, '0 bytes'],
  [1023, '1023 bytes'],
  [1024, '1 KiB'],
  [2355, '2.3 KiB'],
  [20 * 1024 * 1024, '20 MiB'],
])('%d bytes are shown as %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});
