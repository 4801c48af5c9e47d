import { visible } from '../model/visible.ts';
import type { Row } from '../observe/block.ts';
import { widthOf } from '../observe/screen.ts';
import { withoutHalves } from './shortened.ts';
import type { TypedText } from './typed-text.ts';

export interface InputFrame {
  readonly width: number;
  /** The most rows; the one with the cursor is always shown. */
  readonly rows: number;
  readonly prompt?: string;
}

/** The text that a person types, wrapped to the width of the screen. */
export function inputRows(
  { before, after }: TypedText,
  { width, rows, prompt: wanted = '> ' }: InputFrame,
): readonly Row[] {
  const prompt = widthOf(wanted) < width - 1 ? wanted : '';
  const room = Math.max(1, width - widthOf(prompt) - 1);
  const all = wrapped(before, after, room);
  const cursor = all.findIndex(({ hasCursor }) => hasCursor);
  // A row below the cursor is shown as well.
  const from = Math.max(0, Math.min(rows > 1 ? cursor - rows + 2 : cursor, all.length - rows));
  return all.slice(from, from + rows).map((row, i) => ({
    pieces: [
      { text: start(from, i, prompt), tone: 'plain' },
      { text: withoutHalves(row.before), tone: 'plain' },
      { text: withoutHalves(row.after), tone: 'plain' },
    ],
    ...(row.hasCursor && { cursorAfter: 1 }),
  }));
}

/** Rows that are not shown are marked, so that nobody sends a text without knowing of them. */
function start(from: number, index: number, prompt: string): string {
  if (index === 0 && from === 0) return prompt;
  return (index === 0 ? MORE_ABOVE : '').padEnd(widthOf(prompt)).slice(0, widthOf(prompt));
}

const MORE_ABOVE = '^';

interface TypedRow {
  before: string;
  after: string;
  hasCursor: boolean;
}

function wrapped(before: string, after: string, room: number): readonly TypedRow[] {
  const rows: TypedRow[] = [];
  let row: TypedRow = { before: '', after: '', hasCursor: false };
  let width = 0;
  const next = () => {
    rows.push(row);
    row = { before: '', after: '', hasCursor: false };
    width = 0;
  };
  const put = (text: string, part: 'before' | 'after') => {
    for (const written of visible(text).replaceAll('\t', '    ')) {
      const character = widthOf(written) > room ? '?' : written;
      const cells = character === '\n' ? 0 : widthOf(character);
      if (character === '\n' || width + cells > room) next();
      if (character === '\n') continue;
      row[part] += character;
      width += cells;
    }
  };
  put(before, 'before');
  row.hasCursor = true;
  put(after, 'after');
  return [...rows, row];
}
