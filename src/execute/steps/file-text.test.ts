import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { readTags } from '../../parse/tags.ts';
import { type LargeText, outputText } from './file-text.ts';

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

function largeText(path: string): LargeText {
  const output = outputText(path);
  if (typeof output === 'string') throw new Error('The output is small.');
  return output;
}

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

  test('is searched only where a tag can begin, after another reader has shown its bytes', () => {
    const sparse = Buffer.alloc(3_000_001, 'a line without tags\n');
    for (const place of [16_383, 65_536, 1_048_570, 2_999_990]) sparse.write('<goto>', place);
    const other = join(folder, 'sparse');
    writeFileSync(other, sparse);
    const whole = fc.integer({ min: 1, max: 400_000 });
    fc.assert(
      fc.property(whole, fc.array(fc.nat(sparse.length)), (blockBytes, places) => {
        const output = largeText(other);
        for (let from = 0; from < sparse.length; from += blockBytes)
          output.look(sparse.subarray(from, from + blockBytes), from);
        for (const from of [0, ...places])
          for (const text of ['<', '<goto>', 'tags', '<fork>'])
            expect(output.indexOf(text, from)).toBe(sparse.indexOf(text, from));
      }),
      { numRuns: 30 },
    );
  });

  test('is not read again where another reader has seen no tag', () => {
    const other = join(folder, 'plain');
    const plain = Buffer.alloc(2_000_000, 'x');
    writeFileSync(other, plain);
    const output = largeText(other);
    output.look(plain, 0);
    rmSync(other);
    expect(output.indexOf('<')).toBe(-1);
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
