import type { Scalar } from 'yaml';
import type { TextPlace } from '../model/workflow.ts';

type Place = Omit<TextPlace, 'file'>;

/** Where the text of a scalar begins: a block begins below its `|`, a quoted text after its quote. */
export function contentPlace(
  source: string,
  { type, range }: Pick<Scalar, 'type' | 'range'>,
  text: string,
  position: (offset: number) => { readonly line: number; readonly column: number },
): Place {
  const [from, to] = range ?? [0, 0];
  if (type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED') {
    const place = blockPlace(source, from, text, position(from).line + 1);
    return type === 'BLOCK_LITERAL' ? { ...place, indent: place.column } : place;
  }
  const quote = type === 'QUOTE_SINGLE' || type === 'QUOTE_DOUBLE' ? 1 : 0;
  const place = position(from + quote);
  const isVerbatim = source.slice(from + quote, to - quote) === text && !text.includes('\n');
  return isVerbatim ? { ...place, indent: place.column } : place;
}

/** The first line with text shows how far the block is indented. */
function blockPlace(source: string, from: number, text: string, line: number): Place {
  const written = source.slice(source.indexOf('\n', from) + 1).split('\n', MOST_BLANK_LINES);
  const first = text.split('\n', MOST_BLANK_LINES).find((one) => one.trim() !== '') ?? '';
  const firstWritten = written.find((one) => one.trim() !== '') ?? '';
  return { line, column: 1 + Math.max(0, blanksBefore(firstWritten) - blanksBefore(first)) };
}

const blanksBefore = (line: string) => line.length - line.trimStart().length;

const MOST_BLANK_LINES = 100;
