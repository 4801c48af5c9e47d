import { emitKeypressEvents } from 'node:readline';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inputRows } from './input-rows.ts';
import {
  type Key,
  NOTHING_TYPED,
  type Pressed,
  pressed,
  type TypedText,
  together,
} from './typed-text.ts';

/** What a terminal sends becomes keys as in the program. */
function keysOf(bytes: string): readonly Key[] {
  const keys: Key[] = [];
  const stream = new PassThrough();
  emitKeypressEvents(stream);
  stream.on('keypress', (_, key) => keys.push(key));
  stream.emit('data', Buffer.from(bytes));
  return keys;
}

/** The text with a bar at the cursor, or what the last key did instead. */
function after(bytes: string): string {
  let text: TypedText = NOTHING_TYPED;
  let last: Pressed = { kind: 'text', text };
  for (const key of together(keysOf(bytes))) {
    last = pressed(text, key);
    if (last.kind === 'text') text = last.text;
  }
  if (last.kind === 'send') return `sends ${JSON.stringify(last.answer)}`;
  return last.kind === 'text' ? `${text.before}|${text.after}` : last.kind;
}

const paste = (text: string) => `\x1b[200~${text}\x1b[201~`;
const [LEFT, RIGHT, UP, DOWN] = ['\x1b[D', '\x1b[C', '\x1b[A', '\x1b[B'];
const [HOME, END, DELETE, CTRL_LEFT] = ['\x1b[H', '\x1b[F', '\x1b[3~', '\x1b[1;5D'];

test.each([
  ['letters', 'grün 😀 日本', 'grün 😀 日本|'],
  ['Enter', 'yes\r', 'sends "yes"'],
  ['Enter in the middle', `yes${LEFT}\r`, 'sends "yes"'],
  ['a paste of several lines', paste('one\r\ntwo\nthree\r'), 'one\ntwo\nthree\n|'],
  ['Enter after a paste', `${paste('one\rallow\r')}\r`, 'sends "one\\nallow"'],
  ['a paste into the middle', `ab${LEFT}${paste('1\n2')}`, 'a1\n2|b'],
  ['keys inside of a paste', paste('a\x04b\x03\x1b[Dc\x7f\t'), 'ab[Dc\t|'],
  ['line breaks that arrive with more', 'one\rallow\ntwo', 'one\nallow\ntwo|'],
  ['and their end', 'one\rallow\n', 'sends "one\\nallow"'],
  ['Alt-Enter', 'a\x1b\rb', 'a\nb|'],
  ['arrows', `abc${LEFT}${LEFT}x${RIGHT}y`, 'axby|c'],
  ['Home and End', `abc${HOME}x${END}y`, 'xabcy|'],
  ['Ctrl-A', 'abc\x01x', 'x|abc'],
  ['Home in a line', `ab\ncd${HOME}x`, 'ab\nx|cd'],
  ['Ctrl-U', 'one\ntwo\x15', 'one\n|'],
  ['Ctrl-K', `one\ntwo${UP}${LEFT}${LEFT}\x0b`, 'o|\ntwo'],
  ['Ctrl-K at the end of a line', `one\ntwo${UP}\x0b`, 'one|two'],
  ['Ctrl-W', 'grün blau  \x17', 'grün |'],
  ['Ctrl-Left', `one two${CTRL_LEFT}x`, 'one x|two'],
  ['Alt-F', `äö two${HOME}\x1bf`, 'äö| two'],
  ['Backspace removes a whole emoji', 'a👩‍👩‍👧\x7f', 'a|'],
  ['Delete removes a letter with its accent', `e\u0301x${HOME}${DELETE}`, '|x'],
  ['Up and Down', `long line\nab${UP}x${DOWN}${DOWN}`, 'other'],
  ['Up keeps the column', `long line\nab${UP}x`, 'lox|ng line\nab'],
  ['Down stops at the end of a shorter line', `abc\nd${UP}${END}${DOWN}x`, 'abc\ndx|'],
  ['Up in the first line is for the screen', `a${UP}`, 'other'],
  ['Ctrl-D in an empty text', '\x04', 'leave'],
  ['Ctrl-D in a text', `ab${LEFT}\x04`, 'a|'],
  ['Ctrl-C', 'a\x03', 'interrupt'],
  ['Ctrl-E', 'a\x05', 'editor'],
  ['Ctrl-Z', 'a\x1a', 'suspend'],
  ['a key without a meaning', 'a\x1b[15~', 'other'],
])('%s', (_, bytes, text) => {
  expect(after(bytes)).toBe(text);
});

test('no paste sends, leaves or interrupts, whatever it contains', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (pasted) => {
      fc.pre(!pasted.includes('\x1b'));
      expect(after(`a${paste(pasted)}`)).toMatch(/\|$/);
    }),
  );
});

const frame = { width: 12, rows: 3 };
const screenOf = (text: TypedText) =>
  inputRows(text, frame).map(({ pieces, cursorAfter }) =>
    pieces.map(({ text }, i) => (i === cursorAfter ? `${text}|` : text)).join(''),
  );

test.each([
  ['an empty text', { before: '', after: '' }, ['> |']],
  ['the cursor in the text', { before: 'ab', after: 'cd' }, ['> ab|cd']],
  ['several lines', { before: 'ab\nc', after: 'd\ne' }, ['> ab', '  c|d', '  e']],
  ['a long line is wrapped', { before: '0123456789', after: '' }, ['> 012345678', '  9|']],
  ['wide letters', { before: '日本日本日', after: '' }, ['> 日本日本', '  日|']],
  ['the cursor stays visible', { before: '1\n2\n3\n4\n5', after: '' }, ['^ 3', '  4', '  5|']],
  ['a line after it, too', { before: '1\n2\n3', after: '\n4\n5' }, ['^ 2', '  3|', '  4']],
  ['its beginning', { before: '', after: '1\n2\n3\n4' }, ['> |1', '  2', '  3']],
  ['hidden characters', { before: 'a\u202e', after: '' }, ['> a\\u{202e}|']],
])('the rows of %s', (_, text, rows) => {
  expect(screenOf(text)).toEqual(rows);
});

test('no row is wider than the screen', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (before, rest) => {
      for (const row of screenOf({ before, after: rest }))
        expect(row.replace('|', '').length).toBeLessThanOrEqual(frame.width);
    }),
  );
});
