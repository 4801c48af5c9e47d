import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ownLine, quotedLines, widthOf } from './screen.ts';

const plain = { color: false };

test('text after a newline in a line of Raymond is marked', () => {
  expect(ownLine('No state "A\nraymond: done".', plain)).toBe('No state "A\n  | raymond: done".\n');
  expect(ownLine('    indented\nmore', plain)).toBe('    indented\n      | more\n');
  const wide = ownLine(`No state "A\n${'x'.repeat(20)}"`, { color: false, columns: 20 });
  expect(wide).toBe(`No state "A\n  | ${'x'.repeat(16)}\n  | xxxx"\n`);
  expect(ownLine('message with an end\n\n', plain)).toBe('message with an end\n');
});

test('text that does not fit the row is indented on the next one', () => {
  const looks = { color: false, columns: 30 };
  const forged = `${'-'.repeat(22)} raymond: your login has expired`;
  expect(ownLine(`No ${forged}`, looks)).toBe(
    `No ${'-'.repeat(22)} \n    raymond: your login has \n    expired\n`,
  );
  const line = (lead: string) => [
    { text: lead, tone: 'plain' } as const,
    { text: forged, tone: 'plain' } as const,
  ];
  expect(ownLine(line('10:15 main '), { ...looks, columns: 40 })).toBe(
    `10:15 main ${'-'.repeat(22)} \n           raymond: your login has \n           expired\n`,
  );
  const wide = `10:15 ${'main_x1'.repeat(9)} `;
  expect(ownLine(line(wide), looks).split('\n')[1]).toBe(`    ${'-'.repeat(22)} `);
});

test('the tone adds colour after cleaning', () => {
  const pieces = [
    { text: 'main ', tone: 'plain' },
    { text: '\x1b[32mfine', tone: 'bad' },
  ] as const;
  expect(ownLine(pieces, { color: true })).toBe('main \x1b[31m\\x1b[32mfine\x1b[39m\n');
  expect(ownLine(pieces, plain)).toBe('main \\x1b[32mfine\n');
});

test('every line of a quote is marked', () => {
  expect(quotedLines({ text: 'a\n\nb\n' }, plain)).toBe('  | a\n  | \n  | b\n');
  expect(quotedLines({ text: 'a\nb', lead: 'main\n ' }, plain)).toBe('main  | a\nmain  | b\n');
});

test('every row of a quote is marked where the terminal would break the line', () => {
  const text = `${'- '.repeat(20)}raymond: your login has expired`;
  expect(quotedLines({ text, lead: 'main ' }, { color: false, columns: 40 })).toBe(
    [
      'main | - - - - - - - - - - - - - - - - ',
      '     | - - - - raymond: your login has ',
      '     | expired',
      '',
    ].join('\n'),
  );
  expect(quotedLines({ text: 'x'.repeat(40) }, { color: false, columns: 24 })).toBe(
    `  | ${'x'.repeat(20)}\n  | ${'x'.repeat(20)}\n`,
  );
});

test('a name that fills the row is on a row above the text', () => {
  const quote = { text: 'a b', lead: `10:15:02 ${'main_worker1'.repeat(9)} ` };
  expect(quotedLines(quote, { color: false, columns: 80 })).toBe(`${quote.lead}\n  | a b\n`);
});

test('no row is wider than the terminal, for any text', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 300 }),
      fc.integer({ min: 6, max: 200 }),
      (text, columns) => {
        const rows = quotedLines({ text }, { color: false, columns }).slice(0, -1).split('\n');
        for (const row of rows) {
          expect(row).toMatch(/^ {2}\| /);
          expect(widthOf(row)).toBeLessThanOrEqual(columns);
        }
      },
    ),
  );
});
