import { expect, test } from 'vitest';
import { KeptPrints } from './kept-prints.ts';

function printed(kind: 'prompt' | 'script', ...texts: readonly string[]) {
  const prints = new KeptPrints(kind);
  for (const text of texts) prints.add({ kind: 'print', text });
  return prints.kept();
}

test.each<[readonly string[], string]>([
  [['one'], 'one'],
  [['one', 'two'], 'one\ntwo'],
  [['one\n', 'two\n'], 'one\ntwo'],
  [['one\ntwo\n'], 'one\ntwo'],
])('%j is kept as %j, however it arrived', (texts, text) => {
  expect(printed('prompt', ...texts)).toEqual({ printed: { text } });
});

test('a step without prints keeps nothing', () => {
  const prints = new KeptPrints('prompt');
  prints.add({ kind: 'text', text: 'words' });
  expect(prints.kept()).toEqual({});
});

test('each warning is kept once', () => {
  const prints = new KeptPrints('script');
  for (const text of ['one', 'two', 'one']) prints.add({ kind: 'warning', text });
  expect(prints.kept()).toEqual({ warnings: ['one', 'two'] });
});

test.each([
  ['script', 1_000],
  ['prompt', 16_000],
] as const)('a %s keeps %i characters and counts the others', (kind, most) => {
  const line = `${'x'.repeat(99)}\n`;
  const { printed: kept } = printed(kind, ...Array.from({ length: 1_000 }, () => line));
  expect(kept?.text.length).toBe(most - 1);
  expect(kept?.omitted).toBe(100_000 - most);
});

test('a character of two units is not cut', () => {
  const { printed: kept } = printed('script', `${'x'.repeat(999)}😀 end`);
  expect(kept).toEqual({ text: 'x'.repeat(999), omitted: 6 });
});
