import fc from 'fast-check';
import { expect, test } from 'vitest';
import { visible, visibleJson } from './visible.ts';

test.each([
  ['colour', '\x1b[31mred\x1b[0m', '\\x1b[31mred\\x1b[0m'],
  ['a title', '\x1b]0;mine\x07', '\\x1b]0;mine\\x07'],
  ['backspace and DEL', 'a\x08\x7f', 'a\\x08\\x7f'],
  ['NUL', '\0', '\\x00'],
  ['C1: CSI, OSC, ST', '\x9b31m\x9d0;x\x9c', '\\x9b31m\\x9d0;x\\x9c'],
  ['a lone carriage return', 'good\rbad', 'good\\x0dbad'],
  ['Windows line ends', 'a\r\nb', 'a\nb'],
  ['newline and tab', 'a\n\tb', 'a\n\tb'],
  ['an override', 'a\u202eb\u202c', 'a\\u{202e}b\\u{202c}'],
  ['isolates', '\u2066a\u2069', '\\u{2066}a\\u{2069}'],
  ['direction marks', '\u200e\u200f\u061c', '\\u{200e}\\u{200f}\\u{61c}'],
  [
    'zero width',
    'a\u200b\u200c\u200d\u2060\ufeffb',
    'a\\u{200b}\\u{200c}\\u{200d}\\u{2060}\\u{feff}b',
  ],
  ['tags', '\u{e0001}\u{e0041}\u{e007f}', '\\u{e0001}\\u{e0041}\\u{e007f}'],
  ['line separators', 'a\u2028b\u2029c\x85', 'a\\u{2028}b\\u{2029}c\\x85'],
  ['fillers', '\u3164\u115f\u034f\u00ad', '\\u{3164}\\u{115f}\\u{34f}\\xad'],
  ['variation selectors', 'a\ufe00\u{e0100}', 'a\\u{fe00}\\u{e0100}'],
  ['annotations', '\ufff9a\ufffb', '\\u{fff9}a\\u{fffb}'],
  ['half a character', 'a\ud83d', 'a\\u{d83d}'],
  ['a family', '👩‍👩‍👧‍👦 👍🏽 ❤️ 🏳️‍🌈 1️⃣ ©', '👩‍👩‍👧‍👦 👍🏽 ❤️ 🏳️‍🌈 1️⃣ ©'],
  ['joiners that join nothing', '👩‍‍👧‍', '👩\\u{200d}\\u{200d}👧\\u{200d}'],
  ['other scripts', 'Größe, Привет, 日本語, שלום, مرحبا', 'Größe, Привет, 日本語, שלום, مرحبا'],
  ['an Arabic sign that is drawn', '\u0600', '\u0600'],
])('%s', (_, text, shown) => {
  expect(visible(text)).toBe(shown);
  expect(visible(shown)).toBe(shown);
});

test('JSON means the same to programs, and does nothing to a terminal', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const value = { [text]: text, hostile: `${text}\u202e\x9b\u{e0041}\x7f` };
      const written = visibleJson(value);
      expect(visible(written)).toBe(written);
      expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
