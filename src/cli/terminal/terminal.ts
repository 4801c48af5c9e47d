/**
 * INV-27: All text for people leaves through this file, which cleans it.
 *
 * No other file in `src` touches standard output and standard error.
 */
import { fstatSync, ftruncateSync } from 'node:fs';
import { createInterface, emitKeypressEvents, type Interface } from 'node:readline';
import { reasonOf } from '../../journal/disk-errors.ts';
import type { UserError } from '../../model/user-error.ts';
import { visible, visibleJson } from '../../model/visible.ts';
import { type DrawnBlock, type Row, redraw, rowText } from '../../observe/block.ts';
import type { Line } from '../../observe/describe.ts';
import { formatLine } from '../../observe/plain.ts';
import {
  inAscii,
  type Looks,
  ownLine,
  type Part,
  partRows,
  quotedLines,
  type Text,
  type Tone,
} from '../../observe/screen.ts';
import { squeezed } from '../../observe/words.ts';
import type { Key } from '../../view/typed-text.ts';
import { isInForeground } from './foreground.ts';
import { isUnicode } from './unicode.ts';

export interface Screen {
  isTerminal(): boolean;
  hasColor(): boolean;
  /** The width of a terminal; undefined for anything else. */
  columns(): number | undefined;
  /** Lines that Raymond wrote. */
  say(...lines: readonly Text[]): void;
  /** Lines that fit the screen, such as those of a picture. They are not wrapped. */
  rows(...lines: readonly Text[]): void;
  /** A line with a command to copy. It is not wrapped, so it must not contain untrusted text. */
  offer(line: string): void;
  /** A fact and its remedy. */
  error(error: Pick<UserError, 'message' | 'remedy'>): void;
  /** A line of a run's report. */
  line(line: Line, options?: LineOptions): void;
  /** Many such lines, with few writes. */
  lines(lines: readonly Line[], options?: LineOptions): void;
  /** Untrusted text. */
  quote(text: string, tone?: Tone): void;
  json(value: unknown, indent?: number): void;
  /** Text for programs, such as a diagram: byte for byte, except on a terminal. */
  document(text: string): Promise<void>;
  /** A file, byte for byte. Not for a terminal. */
  bytes(content: Uint8Array): Promise<void>;
  /** The result of a run, for the caller of Raymond: byte for byte, except on a terminal. */
  result(text: string): Promise<void>;
  bell(): void;
  /** Asks the terminal to show a note, outside of its text. Not every terminal can. */
  note(text: string): void;
  /** Whether rows can be drawn again in place: no other program uses the terminal now. */
  canRedraw(): boolean;
  /**
   * Writes lines, and draws rows below them. The rows stay below everything that is written later,
   * until others replace them. `whole` also draws unchanged rows.
   */
  draw(lines: readonly Line[], rows: readonly Row[], whole: boolean): void;
  /** The drawn rows are no longer above the cursor: another program has used the terminal. */
  forgetRows(): void;
  /** Erases the rows and holds everything back, until the returned function is called. */
  lend(): () => void;
  /** The rows of parts of a longer text, as `showPage` takes them. */
  wrapped(parts: readonly Part[]): readonly PageRow[];
  /**
   * Fills the screen. What is written meanwhile appears when there is no page any more. Then the
   * terminal shows what it showed before.
   */
  showPage(rows: readonly (PageRow | Row)[] | undefined): void;
  size(): { readonly columns: number; readonly rows: number };
  /** Returns a function that ends this. */
  onResize(act: () => void): () => void;
}

/** A row that is clean and has its colours. Only `wrapped` makes one. */
export type PageRow = string & { readonly isClean: true };

export interface LineOptions {
  readonly plain?: boolean;
  readonly indent?: string;
}

export const stdout: Screen = screen(process.stdout);
export const stderr: Screen = screen(process.stderr);

/** Whether a person can see a question on this screen and answer it. */
export function isAttended(screen: Screen = stderr): boolean {
  return process.stdin.isTTY === true && screen.isTerminal();
}

/** The text that was piped in. */
export function standardInput(): AsyncIterable<Buffer> {
  return process.stdin;
}

/** Standard input and output, for a protocol with another program. */
export const protocolStreams = () => ({ input: process.stdin, output: process.stdout });

/** The process no longer waits for input. */
export function leaveInput(): void {
  process.stdin.destroy();
}

/** Resolves when standard input is closed at its other end. Does not read it. */
export function inputEnds(): Promise<void> {
  return new Promise((resolve) => {
    for (const end of ['end', 'close', 'error'] as const) process.stdin.once(end, () => resolve());
  });
}

/** Reads lines at a terminal that cannot draw rows again. The prompt is written by Raymond. */
export function lineReader(): Interface {
  return createInterface({ input: process.stdin, output: process.stderr });
}

/**
 * Calls back with the keys that the person presses, until the returned function is called. Keys that
 * arrive together come in one call. The terminal marks what is pasted, so that it cannot be taken for
 * keys.
 */
export function onKeys(act: (keys: readonly Key[]) => void): () => void {
  const { stdin } = process;
  let keys: Key[] = [];
  const flush = () => {
    const all = keys;
    keys = [];
    act(all);
  };
  const collect = (_: string | undefined, key: Key) => {
    if (keys.length === 0) queueMicrotask(flush);
    keys.push(key);
  };
  emitKeypressEvents(stdin);
  stdin.on('keypress', collect);
  const leaveRaw = () => process.stderr.write(PASTE_UNMARKED);
  process.once('exit', leaveRaw);
  process.stderr.write(PASTE_MARKED);
  stdin.setRawMode(true);
  stdin.resume();
  return () => {
    stdin.off('keypress', collect);
    stdin.pause();
    stdin.setRawMode(false);
    process.off('exit', leaveRaw);
    leaveRaw();
  };
}

const PASTE_MARKED = '\x1b[?2004h';
const PASTE_UNMARKED = '\x1b[?2004l';

/**
 * Gives the terminal to another program. What Raymond writes in the meantime follows when the program
 * has ended.
 */
export async function lendTerminal<T>(use: () => Promise<T>): Promise<T> {
  const takeBack = [stdout, stderr].map((one) => one.lend());
  try {
    return await use();
  } finally {
    for (const take of takeBack) take();
  }
}

/** Keys of the person at the terminal, as the terminal sends them. */
export interface KeyReader {
  /** The terminal sends each key at once, and does not show it. Nothing happens in the background. */
  take(): void;
  release(): void;
  close(): void;
}

/** Undefined if there is no person. The first listener, so that nobody has acted on the keys before. */
export function keyReader(onPiece: (piece: string) => void): KeyReader | undefined {
  const { stdin } = process;
  if (stdin.isTTY !== true) return undefined;
  const listen = (piece: Buffer | string) => onPiece(piece.toString());
  const release = () => {
    stdin.setRawMode(false);
    stdin.pause();
  };
  return {
    take() {
      if (!isInForeground()) return;
      stdin.off('data', listen);
      stdin.prependListener('data', listen);
      // The shell may have changed the mode while this process was suspended.
      stdin.setRawMode(false);
      stdin.setRawMode(true);
      stdin.resume();
    },
    release,
    close() {
      stdin.off('data', listen);
      release();
    },
  };
}

/** Sends warnings and crashes of Node through this file, and reports output that cannot be written. */
export function keepTheDoor(report: (error: unknown) => number): void {
  process.stderr.on('error', () => {});
  let lost: NodeJS.ErrnoException | undefined;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader may close the pipe early.
    if (error.code !== 'EPIPE') lost ??= error;
  });
  process.on('exit', (code) => {
    if (!lost) return;
    stderr.say(`raymond: The output cannot be written: ${reasonOf(lost)}.`);
    if (code === 0) process.exitCode = CANNOT_WRITE;
  });
  // With --no-warnings there is no listener, and Raymond prints no warnings either.
  if (process.listenerCount('warning') > 0) {
    process.removeAllListeners('warning');
    process.on('warning', ({ message }) => stderr.say(`Warning: ${message}`));
  }
  process.on('uncaughtException', (error) => process.exit(report(error)));
}

const CANNOT_WRITE = 1;

/** Ends the process even if something is still pending. */
export function endNow(code: number): never {
  process.exit(code);
}

/** Empties the file of standard error whenever it is too large, until the process ends. */
export function limitStderr(mostBytes: number): void {
  const look = () => {
    const found = fstatSync(STDERR);
    if (found.isFile() && found.size > mostBytes) ftruncateSync(STDERR);
  };
  setInterval(look, LOOK_AT_STDERR_MS).unref();
}

const STDERR = 2;
const LOOK_AT_STDERR_MS = 5_000;

const LINES_AT_ONCE = 1_000;

function screen(stream: NodeJS.WriteStream): Screen {
  const isTerminal = () => stream.isTTY === true;
  const hasColor = () => isTerminal() && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
  const looks = (): Looks => ({
    color: hasColor(),
    // A terminal without a known size reports 0.
    columns: isTerminal() && stream.columns > 0 ? stream.columns : undefined,
    isAscii: !isUnicode(process.env),
  });
  let block: { readonly rows: readonly Row[]; readonly drawn: DrawnBlock } | undefined;
  let held: { above: string; rows: readonly Row[] } | undefined;
  const put = (above: string, rows: readonly Row[], whole: boolean) => {
    if (held) {
      held = { above: held.above + above, rows };
      return;
    }
    const { output, drawn } = redraw(block?.drawn, { above, rows, whole }, looks());
    block = drawn && { rows, drawn };
    if (output !== '') stream.write(output);
  };
  const write = (text: string) => put(text, held?.rows ?? block?.rows ?? [], true);
  const formatted = (some: readonly Line[], { plain, indent }: LineOptions = {}) => {
    const shown = { ...looks(), ...(plain && { color: false }) };
    return some.map((line) => formatLine(line, shown, indent)).join('');
  };
  const say = (...lines: readonly Text[]) =>
    write(lines.map((line) => ownLine(line, looks())).join(''));
  const rows = (...lines: readonly Text[]) =>
    write(lines.map((line) => ownLine(line, { color: hasColor() })).join(''));
  const offer = (line: string) => write(ownLine(line, { color: hasColor() }));
  const lines = (all: readonly Line[], options?: LineOptions) => {
    for (let from = 0; from < all.length; from += LINES_AT_ONCE)
      write(formatted(all.slice(from, from + LINES_AT_ONCE), options));
  };
  const written = (text: string | Uint8Array) =>
    new Promise<void>((resolve) => {
      stream.write(text, () => resolve());
    });
  return {
    isTerminal,
    hasColor,
    columns: () => looks().columns,
    say,
    rows,
    offer,
    error: ({ message, remedy }) => {
      say([
        { text: 'raymond: ', tone: 'plain' },
        { text: squeezed(message), tone: 'plain' },
      ]);
      offer(`         ${squeezed(remedy)}`);
    },
    line: (line, options) => lines([line], options),
    lines,
    quote: (text, tone = 'plain') => write(quotedLines({ text, tone }, looks())),
    json: (value, indent) => write(`${visibleJson(value, indent)}\n`),
    bytes: written,
    document: (text) => written(isTerminal() ? visible(text) : text),
    result: (text) => written(isTerminal() ? quotedLines({ text }, looks()) : `${text}\n`),
    bell: () => {
      if (isTerminal()) stream.write('\x07');
    },
    note: (text) => {
      if (isTerminal()) stream.write(noteEscape(visible(text).replaceAll('\n', ' ')));
    },
    canRedraw: () => isTerminal() && process.env.TERM !== 'dumb' && isInForeground(),
    draw: (some, rows, whole) => put(formatted(some), rows, whole),
    wrapped: (parts) => {
      const { columns = 80, ...others } = looks();
      return parts.flatMap((part) => wrappedPart(part, { ...others, columns: columns - 1 }));
    },
    showPage: (rows) => {
      if (!rows) {
        leavePage();
        return;
      }
      page ??= openPage(stream);
      const all = rows.map((row) => (typeof row === 'string' ? row : rowText(row, looks())));
      // A terminal moves and breaks its rows when its size changes.
      const size = `${stream.columns}x${stream.rows}`;
      const before = size === page.size ? page.rows : [];
      const changed = all.map((row, i) =>
        row === before[i] ? '' : `\x1b[${i + 1};1H\x1b[2K${row}`,
      );
      const below = all.length < before.length ? `\x1b[${all.length + 1};1H\x1b[J` : '';
      const output = `${size === page.size ? '' : ERASE_SCREEN}${changed.join('')}${below}`;
      Object.assign(page, { rows: all, size });
      if (output !== '') stream.write(output);
    },
    forgetRows: () => {
      block = undefined;
    },
    lend: () => {
      const rows = block?.rows ?? [];
      put('', [], true);
      held = { above: '', rows };
      return () => {
        const { above = '', rows = [] } = held ?? {};
        held = undefined;
        put(above, rows, true);
      };
    },
    // A terminal without a known size reports 0.
    size: () => ({ columns: stream.columns || 80, rows: stream.rows || 24 }),
    onResize: (act) => {
      stream.on('resize', act);
      return () => void stream.off('resize', act);
    },
  };
}

const ERASE_SCREEN = '\x1b[2J';

/** The page on the alternate screen of the terminal. */
interface OpenPage {
  rows: readonly string[];
  /** The size of the screen for which they were drawn. */
  size: string;
  close(): void;
}

let page: OpenPage | undefined;

function openPage(stream: NodeJS.WriteStream): OpenPage {
  const takeBack = [stdout, stderr].map((one) => one.lend());
  stream.write('\x1b[?1049h\x1b[?25l');
  process.on('exit', leavePage);
  const close = () => {
    stream.write('\x1b[?25h\x1b[?1049l');
    for (const take of takeBack) take();
  };
  return { rows: [], size: '', close };
}

function leavePage(): void {
  const left = page;
  page = undefined;
  process.off('exit', leavePage);
  left?.close();
}

const wrappings = new WeakMap<Part, { readonly looks: string; readonly rows: PageRow[] }>();

/** A part does not change, so it is wrapped once for each width. */
function wrappedPart(part: Part, looks: Looks): readonly PageRow[] {
  const key = `${looks.columns} ${looks.color}`;
  const known = wrappings.get(part);
  if (known?.looks === key) return known.rows;
  const rows = partRows(part, looks).map((row) => (looks.isAscii ? inAscii(row) : row) as PageRow);
  wrappings.set(part, { looks: key, rows });
  return rows;
}

/** Other terminals ignore it. Some read a number at the beginning as a command, so a word precedes the text. */
function noteEscape(text: string): string {
  const { TERM = '' } = process.env;
  if (TERM === '' || TERM === 'dumb' || TERM === 'linux') return '';
  return /^(rxvt|foot)/.test(TERM)
    ? `\x1b]777;notify;Raymond;${text.replaceAll(';', ',')}\x07`
    : `\x1b]9;Raymond: ${text}\x07`;
}
