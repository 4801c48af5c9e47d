import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { readTags } from '../parse/tags.ts';
import { outputText } from './file-text.ts';

const folder = mkdtempSync(join(tmpdir(), 'raymond-output-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** More than two blocks, with characters of several bytes, and tags across the edges. */
const written = Buffer.from(
  Array.from({ length: 30_000 }, (_, n) => `${n} é < <goto>S${n}</goto> 😀 ${'x'.repeat(n % 97)}\n`)
    .join('')
    .concat('<fork a="é&lt;">the end</fork>'),
);
const file = join(folder, 'stdout');
writeFileSync(file, written);

describe('a large output', () => {
  const at = fc.integer({ min: 0, max: written.length });

  test('is searched as its bytes are, from any place', () => {
    const output = outputText(file);
    expect(typeof output).toBe('object');
    expect(output.length).toBe(written.length);
    const needle = fc.constantFrom('<', '</goto', '<fork', 'S29999<', 'nothing');
    fc.assert(
      fc.property(at, needle, (from, text) => {
        expect(output.indexOf(text, from)).toBe(written.indexOf(text, from));
        expect(output.charCodeAt(from)).toBe(written[from] ?? Number.NaN);
      }),
    );
  });

  test('gives decoded parts', () => {
    const output = outputText(file);
    fc.assert(
      fc.property(at, fc.constantFrom(0, 1, 100, 100_000, 2_000_000), (from, length) => {
        const expected = written.toString('utf8', from, from + length);
        expect(output.slice(from, from + length)).toBe(expected);
      }),
    );
  });

  test('has the same tags as its text', () => {
    const text = written.toString('utf8');
    const tags = readTags(outputText(file), { code: 'ignored' });
    expect(tags).toEqual(readTags(text, { code: 'ignored' }));
    expect(tags.tags).toHaveLength(30_001);
  });
});
