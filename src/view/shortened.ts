import { widthOf } from '../observe/screen.ts';
import { oneLine } from '../observe/words.ts';

/**
 * Untrusted text on one line, shortened to a number of cells. A long text is cut between words, unless
 * too little of it would be left.
 */
export function shortened(text: string, cells: number): string {
  const line = oneLine(text, LONGEST);
  if (widthOf(line) <= cells) return line;
  const room = cells - widthOf(MORE);
  if (room < 1) return '';
  let end = 0;
  let width = 0;
  let space = 0;
  for (const character of line) {
    width += widthOf(character);
    if (width > room) break;
    if (character === ' ') space = end;
    end += character.length;
  }
  const isBetween = line[end] === ' ';
  const cut = isBetween || space < end * LEAST_PART ? end : space;
  return `${withoutHalves(line.slice(0, cut)).trimEnd()}${MORE}`;
}

const LONGEST = 500;
const MORE = '…';
/** A word that takes much of the room is cut: it is often the path that a tool works on. */
const LEAST_PART = 0.75;

/** Removes what joined or selected a character that was cut off: it would be shown as an escape. */
export function withoutHalves(text: string): string {
  return text.replace(/^[\u200d\ufe0e\ufe0f]+|[\u200d\ufe0e\ufe0f]+$/gu, '');
}
