import type { KeptFile } from '../model/kept-file.ts';
import type { PermissionRequest } from '../model/permission.ts';
import type { Row } from '../observe/block.ts';
import { ownLine, quotedLines, type Tone, widthOf } from '../observe/screen.ts';
import { asksText, choiceLines, elapsed, fileLines } from '../observe/words.ts';
import { inputRows } from './input-rows.ts';
import { shortened, withoutHalves } from './shortened.ts';
import type { TypedText } from './typed-text.ts';

/** A question of an agent that waits for an answer. */
export interface Asked {
  readonly run?: string;
  readonly agent: string;
  readonly question: string;
  readonly files?: readonly KeptFile[] | undefined;
  readonly deadline?: number | undefined;
  /** Present for a permission request. */
  readonly request?: PermissionRequest | undefined;
  /** The agent asks nothing: the user says something to it. */
  readonly isTold?: true;
}

/** A question that the user answers in the view, and what the user has typed. */
export interface Typing extends TypedText {
  readonly asked: Asked;
  /** Why the text that was sent before is no answer. */
  readonly problem?: string | undefined;
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
  const verb = asksText(asked.request);
  const head = shortened(
    asked.isTold ? `you say to ${asked.agent}:` : `${asked.agent} ${verb}${left}${others}:`,
    width,
  );
  const choices = choiceRows(asked, width);
  const problem = ownRows(typing.problem, width, 'warning');
  const input = inputRows(typing, { width, rows: Math.max(1, Math.floor(rows / 2) - 1) });
  const fixed = HEAD_ROWS + choices.length + problem.length + input.length;
  return [
    { pieces: [] },
    { pieces: [{ text: head, tone: 'warning' }] },
    ...(asked.isTold ? [] : quotedRows(asked.question, width, rows - fixed)),
    ...choices,
    ...problem,
    ...input,
  ];
}

/** Whether the screen can show the whole question. */
export function questionFits(asked: Asked, width: number, rows: number): boolean {
  const fixed = HEAD_ROWS + choiceRows(asked, width).length + 1;
  return quoted(asked.question, width).length <= rows - fixed;
}

const HEAD_ROWS = 2;

const choiceRows = ({ run = '', files, request }: Asked, width: number) =>
  [...fileLines(run, files), ...choiceLines(request)].flatMap((line) =>
    ownRows(line, width, 'plain'),
  );

/** A line of Raymond, wrapped, so that nothing of it is cut. */
function ownRows(text: string | undefined, width: number, tone: Tone): readonly Row[] {
  if (text === undefined) return [];
  const rows = ownLine(text, { color: false, columns: width }).split('\n').slice(0, -1);
  return rows.map((row) => ({ pieces: [{ text: fitted(row, width), tone }] }));
}

/** Before each row of `quotedLines`. */
const BAR = '  | ';

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
