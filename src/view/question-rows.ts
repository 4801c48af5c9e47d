import type { PermissionRequest } from '../model/permission.ts';
import { visible } from '../model/visible.ts';
import type { Row } from '../observe/block.ts';
import { quotedLines, widthOf } from '../observe/screen.ts';
import { asksText, elapsed } from '../observe/words.ts';
import { shortened, withoutHalves } from './shortened.ts';

/** A question of an agent that waits for an answer. */
export interface Asked {
  readonly agent: string;
  readonly question: string;
  readonly deadline?: number | undefined;
  /** Present for a permission request. */
  readonly request?: PermissionRequest | undefined;
}

/** A question that the user answers in the view, and what the user has typed. */
export interface Typing {
  readonly asked: Asked;
  /** The typed text before and after the cursor. */
  readonly before: string;
  readonly after: string;
}

export interface QuestionFrame {
  readonly width: number;
  readonly rows: number;
  readonly now: number;
  /** The number of open questions, including this one. */
  readonly open: number;
}

/** The question, marked as untrusted text, and a row to type in. */
export function questionRows(
  typing: Typing,
  { width, rows, now, open }: QuestionFrame,
): readonly Row[] {
  const { asked } = typing;
  const left = asked.deadline === undefined ? '' : ` (${elapsed(asked.deadline - now)} left)`;
  const others = open > 1 ? `, and ${open - 1} more` : '';
  const head = shortened(`${asked.agent} ${asksText(asked.request)}${left}${others}:`, width);
  return [
    { pieces: [] },
    { pieces: [{ text: head, tone: 'warning' }] },
    ...quotedRows(asked.question, width, rows - FIXED_ROWS),
    inputRow(typing, width),
  ];
}

/** Whether the screen can show the whole question. */
export function questionFits({ question }: Asked, width: number, rows: number): boolean {
  return quoted(question, width).length <= rows - FIXED_ROWS;
}

const FIXED_ROWS = 3;
/** Before each row of `quotedLines`. */
const BAR = '  | ';
const PROMPT = '> ';

function quoted(text: string, width: number): readonly string[] {
  const quote = { text: text.replaceAll('\t', ' ') };
  const rows = quotedLines(quote, { color: false, columns: width }).split('\n').slice(0, -1);
  return rows.map((row) => `${BAR}${withoutHalves(row.slice(BAR.length))}`);
}

function quotedRows(text: string, width: number, rows: number): readonly Row[] {
  const all = quoted(text, width);
  const shown = all.length <= rows ? all : [...all.slice(0, Math.max(0, rows - 1)), `${BAR}…`];
  return shown.map((line) => ({
    pieces: [{ text: withoutHalves(fitted(line, width)), tone: 'plain' }],
  }));
}

/** A long text moves to the left, so that the cursor stays on the screen. */
function inputRow({ before, after }: Typing, width: number): Row {
  const prompt = fitted(PROMPT, width - 1);
  const room = width - widthOf(prompt);
  const shownBefore = lastCells(shown(before), room);
  const shownAfter = fitted(shown(after), room - widthOf(shownBefore));
  return {
    pieces: [
      { text: prompt, tone: 'plain' },
      { text: shownBefore, tone: 'plain' },
      { text: shownAfter, tone: 'plain' },
    ],
    cursorAfter: 1,
  };
}

const shown = (text: string) => visible(text).replace(/[\n\t]/g, ' ');

function fitted(text: string, cells: number): string {
  let end = 0;
  let width = 0;
  for (const character of text) {
    width += widthOf(character);
    if (width > cells) break;
    end += character.length;
  }
  return withoutHalves(text.slice(0, end));
}

function lastCells(text: string, cells: number): string {
  const characters = Array.from(text);
  let width = 0;
  let start = characters.length;
  while (start > 0) {
    width += widthOf(characters[start - 1] ?? '');
    if (width > cells) break;
    start -= 1;
  }
  return withoutHalves(characters.slice(start).join(''));
}
