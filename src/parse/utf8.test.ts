import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeUtf8 } from './utf8.ts';

test('decodes any bytes like the platform', () => {
  const pieces = fc.oneof(
    fc.uint8Array({ maxLength: 6 }),
    fc.string({ unit: 'binary', maxLength: 4 }).map((text) => new TextEncoder().encode(text)),
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 6 }), (parts) => {
      const bytes = Buffer.concat(parts);
      const decoded = decodeUtf8(bytes);
      expect(decoded.ok ? decoded.text : undefined).toBe(byPlatform(bytes));
      if (!decoded.ok) expect(byPlatform(bytes.subarray(0, decoded.offset))).toBeDefined();
    }),
  );
});

test.each([
  ['valid', [0x41, 0xc3, 0xa4], 'Aä', undefined],
  ['BOM', [0xef, 0xbb, 0xbf, 0x41], 'A', undefined],
  ['astral', [0xf0, 0x9f, 0x98, 0x80], '😀', undefined],
  ['Latin-1', [0x41, 0xe4, 0x42], undefined, 1],
  ['UTF-16', [0xff, 0xfe, 0x41, 0x00], undefined, 0],
  ['overlong', [0x41, 0xc0, 0x80], undefined, 1],
  ['surrogate', [0xed, 0xa0, 0x80], undefined, 0],
  ['cut off', [0x41, 0xe2, 0x82], undefined, 1],
  ['cut off like a replacement', [0x41, 0xef, 0xbf], undefined, 1],
  ['a replacement', [0xef, 0xbf, 0xbd, 0xef, 0xbf, 0x41], undefined, 3],
  ['beyond the last', [0xf4, 0x90, 0x80, 0x80], undefined, 0],
])('%s', (_, bytes, text, offset) => {
  const decoded = decodeUtf8(Uint8Array.from(bytes));
  expect(decoded).toEqual(text === undefined ? { ok: false, offset } : { ok: true, text });
});

test('long texts', () => {
  const text = 'aä😀'.repeat(20_000);
  expect(decodeUtf8(Buffer.from(text))).toEqual({ ok: true, text });
});

function byPlatform(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
