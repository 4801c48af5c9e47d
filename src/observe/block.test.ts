import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DrawnBlock, type Row, redraw } from './block.ts';

const COLUMNS = 20;

const ESCAPE = '\x1b';
const MOVES = new RegExp(String.raw`${ESCAPE}(\[A|\[2K|\[\d+G)|[\s\S]`, 'g');

/** A terminal that knows the few movements that a block uses. Anything else fails the test. */
function terminal() {
  const rows: string[] = [''];
  let [row, column] = [0, 0];
  const put = (letter: string) => {
    const text = (rows[row] ?? '').padEnd(column);
    rows[row] = text.slice(0, column) + letter + text.slice(column + 1);
    column += 1;
  };
  const write = (output: string) => {
    for (const [part, code] of output.matchAll(MOVES)) {
      if (code === '[A') row = Math.max(0, row - 1);
      else if (code === '[2K') rows[row] = '';
      else if (code !== undefined) column = Number(/\d+/.exec(code)?.[0]) - 1;
      else if (part === '\n') {
        [row, column] = [row + 1, 0];
        rows[row] ??= '';
      } else if (part === '\r') column = 0;
      else if (part < ' ') throw new Error(`The terminal does not know ${JSON.stringify(part)}.`);
      else put(part);
    }
  };
  return { write, rows: () => rows.map((text) => text.trimEnd()), cursor: () => [row, column] };
}

const word = fc.stringMatching(/^[a-z]{1,6}$/);
const row: fc.Arbitrary<Row> = fc
  .array(fc.record({ text: word, tone: fc.constant('plain' as const) }), { maxLength: 2 })
  .map((pieces) => ({ pieces: pieces.map((piece, i) => ({ ...piece, column: i * 9 })) }));
const typed: Row = {
  pieces: ['> ', 'ab', 'cd'].map((text) => ({ text, tone: 'plain' })),
  cursorAfter: 1,
};
const frame = fc.record({
  above: fc.array(word, { maxLength: 3 }),
  rows: fc.array(row, { maxLength: 6 }),
  isTyping: fc.boolean(),
  below: fc.array(row, { maxLength: 2 }),
  whole: fc.boolean(),
});

const rowText = ({ pieces }: Row) =>
  pieces.reduce((text, piece) => text.padEnd(piece.column ?? 0) + piece.text, '').trimEnd();

test('everything that was written stays above the rows, and nothing else remains', () => {
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 12 }), (frames) => {
      const screen = terminal();
      const written: string[] = [];
      let drawn: DrawnBlock | undefined;
      for (const { above, rows, isTyping, below, whole } of frames) {
        const all = isTyping ? [...rows, typed, ...below] : rows;
        const drawing = { above: above.map((line) => `${line}\n`).join(''), rows: all, whole };
        const next = redraw(drawn, drawing, { color: false, columns: COLUMNS });
        screen.write(next.output);
        drawn = next.drawn;
        written.push(...above);
        const shown = screen.rows();
        expect(shown.slice(0, written.length)).toEqual(written);
        const left = shown.slice(written.length).join('\n').trim();
        expect(left).toBe(all.map(rowText).join('\n').trim());
        const [y, x] = screen.cursor();
        expect(x).toBe(isTyping ? 4 : 0);
        if (!isTyping) expect(shown.slice(y).join('')).toBe('');
      }
    }),
  );
});

test('rows that shrink do not move up, and lines above use the space', () => {
  const row = (text: string): Row => ({ pieces: [{ text, tone: 'plain' }] });
  const looks = { color: false, columns: COLUMNS };
  const screen = terminal();
  const first = redraw(
    undefined,
    { above: '', rows: [row('a'), row('b'), row('c')], whole: true },
    looks,
  );
  screen.write(first.output);
  const second = redraw(first.drawn, { above: '', rows: [row('c')], whole: false }, looks);
  screen.write(second.output);
  expect(screen.rows()).toEqual(['', '', 'c', '']);
  const third = redraw(second.drawn, { above: 'one\n', rows: [row('c')], whole: false }, looks);
  screen.write(third.output);
  expect(screen.rows()).toEqual(['one', '', 'c', '']);
  screen.write(redraw(third.drawn, { above: 'end\n', rows: [], whole: true }, looks).output);
  expect(screen.rows()).toEqual(['one', 'end', '', '']);
});

test('rows that did not change are not written again', () => {
  const rows = ['one', 'two'].map((text): Row => ({ pieces: [{ text, tone: 'plain' }] }));
  const looks = { color: false, columns: COLUMNS };
  const { drawn } = redraw(undefined, { above: '', rows, whole: true }, looks);
  expect(redraw(drawn, { above: '', rows, whole: false }, looks).output).toBe('');
  const changed = [...rows.slice(0, 1), { pieces: [{ text: 'new', tone: 'plain' as const }] }];
  expect(redraw(drawn, { above: '', rows: changed, whole: false }, looks).output).not.toContain(
    'one',
  );
});

test('rows that a narrower terminal has broken are erased as a whole', () => {
  const rows: Row[] = [{ pieces: [{ text: 'x'.repeat(19), tone: 'plain' }] }];
  const { drawn } = redraw(
    undefined,
    { above: '', rows, whole: true },
    { color: false, columns: 20 },
  );
  const { output } = redraw(
    drawn,
    { above: '', rows: [], whole: true },
    { color: false, columns: 7 },
  );
  expect(output.split(`${ESCAPE}[A`)).toHaveLength(4);
});

test('text of others in a row cannot act', () => {
  const rows: Row[] = [{ pieces: [{ text: 'a\nb\x1b[2J', tone: 'plain' }] }];
  const { output } = redraw(
    undefined,
    { above: '', rows, whole: true },
    { color: true, columns: 80 },
  );
  expect(output).toBe('a b\\x1b[2J\n');
});
