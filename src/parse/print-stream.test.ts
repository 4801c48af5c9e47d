import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type PrintPiece, printedTexts } from './print-pieces.ts';
import { printStream } from './print-stream.ts';

describe('the shown text', () => {
  test.each<[name: string, output: string, prints: readonly string[]]>([
    ['a print', 'a <print>hello</print> b', ['hello']],
    ['each print on its own', '<print>a</print><print>b</print>', ['a', 'b']],
    ['an empty print', '<print></print>', ['']],
    ['several lines', '<print>a\nb\n</print>', ['a\nb\n']],
    ['other tags as text', '<print>a <goto>X</goto> <b></print>', ['a <goto>X</goto> <b>']],
    ['a print in a print as text', '<print>a<print>b</print>c</print>', ['a<print>b']],
    ['entities as written', '<print>&lt;&amp;</print>', ['&lt;&amp;']],
    ['space before the end of either tag', '<print\n >a</print\n >b', ['a']],
    ['not the values of its attributes', `<print a="x>" b='">'>c</print>`, ['c']],
    ['nothing for a self-closed print', '<print/><print a="b" />x</print>', []],
    [
      'nothing for a longer or shorter name',
      '<prints>a</prints><prin>b</prin><PRINT>c</PRINT>',
      [],
    ],
    ['a print after a false start', '<<pr<print<print>a</print>', ['a']],
    ['a print after an opening that breaks off', '<print a <print>b</print>', ['b']],
    ['nothing after an opening that breaks off', '<print a <b>c', []],
    [
      'text that only looks like a closing tag',
      '<print>a</</prints></printx></print>',
      ['a</</prints></printx>'],
    ],
    ['a closing tag after half a closing tag', '<print>a</pri</print>', ['a</pri']],
    [
      'no closing tag after very much space',
      `<print>a</print${' '.repeat(99)}></print>`,
      [`a</print${' '.repeat(99)}>`],
    ],
    ['a print that is never closed', 'x<print>a\nb', ['a\nb']],
    ['a print that breaks off in its closing tag', '<print>a</prin', ['a</prin']],
    ['nothing when there is no print', 'a < b > c', []],
  ])('%s', (_, output, prints) => {
    expect(shown(piecesOf([output]))).toEqual(prints);
  });
});

describe('the time of showing', () => {
  test('a line is shown as soon as it is complete, and the rest at the closing tag', () => {
    const stream = printStream();
    expect(stream.push('<print>one\ntw')).toEqual([{ text: 'one\n', done: false }]);
    expect(stream.push('o')).toEqual([]);
    expect(stream.push('</print>')).toEqual([{ text: 'two', done: true }]);
    expect(stream.end()).toEqual([]);
  });

  test('a line that never ends is not held in memory', () => {
    const stream = printStream();
    stream.push('<print>');
    let given = 0;
    for (let pushed = 1000; pushed <= 1_000_000; pushed += 1000) {
      for (const piece of stream.push('x'.repeat(1000))) given += piece.text.length;
      expect(pushed - given).toBeLessThan(5000);
    }
  });

  test('a long line is never cut inside a character', () => {
    const pieces = piecesOf([`<print>x${'😀'.repeat(10_000)}</print>`]);
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.every(({ text }) => !/\p{Surrogate}/u.test(text))).toBe(true);
  });
});

test('the pieces do not depend on how the output is cut into chunks', () => {
  const token = fc.constantFrom(
    ...['<print', '>', '</print', '</print>', '<print>', ' ', '\n', '/', '"', "'", '<', 'p', '😀'],
    'x'.repeat(5000),
    ' '.repeat(60),
  );
  const chunks = fc.array(fc.oneof(token, fc.string({ unit: 'binary' })));
  fc.assert(
    fc.property(chunks, fc.array(fc.nat()), (texts, cuts) => {
      const output = texts.join('');
      const whole = piecesOf([output]);
      expect(piecesOf(cutAt(output, cuts))).toEqual(whole);
      expect(piecesOf(texts)).toEqual(whole);
      expect(piecesOf(output.split(''))).toEqual(whole);
    }),
  );
});

describe('the texts of pieces that arrive together', () => {
  test.each<[name: string, output: string, texts: readonly string[]]>([
    ['lines of one print are one text', '<print>a\nb\nc</print>', ['a\nb\nc']],
    ['each print is a text', '<print>a\n</print><print>b</print>', ['a\n', 'b']],
    ['an empty print gives none', '<print></print>', []],
    [
      'a line is cut where its parts are cut',
      `<print>a\n${'x'.repeat(5000)}\nb</print>`,
      [`a\n${'x'.repeat(4096)}`, `${'x'.repeat(904)}\nb`],
    ],
  ])('%s', (_, output, texts) => {
    expect(printedTexts(piecesOf([output]))).toEqual(texts);
  });
});

function piecesOf(chunks: readonly string[]): readonly PrintPiece[] {
  const stream = printStream();
  return [...chunks.flatMap((chunk) => stream.push(chunk)), ...stream.end()];
}

function shown(pieces: readonly PrintPiece[]): readonly string[] {
  const prints: string[] = [];
  let text = '';
  for (const piece of pieces) {
    text += piece.text;
    if (piece.done) {
      prints.push(text);
      text = '';
    }
  }
  expect(text).toBe('');
  return prints;
}

function cutAt(output: string, cuts: readonly number[]): readonly string[] {
  const places = cuts.map((cut) => cut % (output.length + 1)).sort((a, b) => a - b);
  return [...places, output.length].map((to, i) => output.slice(places[i - 1] ?? 0, to));
}
