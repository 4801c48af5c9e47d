import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { answerRef, answerRefOf } from './answer-ref.ts';

const folder = mkdtempSync(join(tmpdir(), 'raymond-answer-'));
const file = join(folder, 'stdout');
afterAll(() => rmSync(folder, { recursive: true }));

test('a file has the same reference as its decoded text, however it is cut into blocks', async () => {
  const parts = [[0x41], [0xc3, 0xa9], [0xe2, 0x82, 0xac], [0xf0, 0x9f, 0x98, 0x80]];
  const broken = [[0xe2, 0x82], [0xf0, 0x9f], [0x80], [0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80]];
  const bytes = fc
    .array(fc.constantFrom(...parts, ...broken), { maxLength: 12 })
    .map((list) => Buffer.from(list.flat()));
  await fc.assert(
    fc.asyncProperty(bytes, fc.integer({ min: 1, max: 9 }), async (written, blockBytes) => {
      writeFileSync(file, written);
      const expected = answerRef(written.toString('utf8'));
      expect(await answerRefOf(file, written.length, { blockBytes })).toEqual(expected);
    }),
  );
});

test('bytes that were written later do not count', async () => {
  writeFileSync(file, 'an answer and more');
  expect(await answerRefOf(file, 9)).toEqual(answerRef('an answer'));
});
