/** Draws a captured screen as an SVG picture: a window with the text, for light and dark pages. */
import { escapeText } from '../../src/model/escape.ts';
import { type Piece, readScreen, type Style } from './screen-text.ts';

export interface ScreenPicture {
  /** One screen, or several for a picture that moves. */
  readonly screens: readonly Screen[];
  /** The screen that is shown where nothing moves. */
  readonly still?: number;
  readonly columns: number;
  /** The title of the window, such as the command that the reader would enter. */
  readonly title: string;
  /** The content of the picture, for people who do not see it. */
  readonly description: string;
}

export interface Screen {
  /** As `tmux capture-pane -e -p` prints it. */
  readonly captured: string;
  readonly seconds?: number;
}

const CELL = { width: 7.8, height: 18 };
const BAR = 34;
const MARGIN = { x: 18, y: 14 };

export function screenSvg(picture: ScreenPicture): string {
  const { columns, title, description } = picture;
  const screens = picture.screens.map(({ captured }) =>
    readScreen(captured).map((row, index) => row.map((piece) => drawPiece(piece, index)).join('')),
  );
  const shown = screens.flatMap(spansOf);
  const rows = Math.max(...screens.map(({ length }) => length));
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN.x);
  const height = BAR + rows * CELL.height + 2 * MARGIN.y;
  return [
    `<svg class="screen" xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escapeText(title)}</title>`,
    `<desc>${escapeText(description)}</desc>`,
    `<style>${STYLE}${screens.length > 1 ? movement(picture, shown) : ''}</style>`,
    `<rect class="window" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="9"/>`,
    `<path class="bar" d="M0.5 ${BAR} V9.5 a9 9 0 0 1 9 -9 H${width - 9.5} a9 9 0 0 1 9 9 V${BAR} Z"/>`,
    ...[20, 38, 56].map((x) => `<circle class="dot" cx="${x}" cy="${BAR / 2}" r="5.5"/>`),
    `<text class="title" x="${width / 2}" y="${BAR / 2 + 4}">${escapeText(title)}</text>`,
    ...shown.map((span) =>
      screens.length > 1 ? `<g class="${nameOf(span)}">${span.row}</g>` : span.row,
    ),
    '</svg>',
    '',
  ].join('\n');
}

/** A row, and the screens that show it: from the first one, until the other. */
interface Span {
  readonly row: string;
  readonly from: number;
  readonly until: number;
}

const nameOf = ({ from, until }: Span) => `s${from}-${until}`;

/** A row that stays is drawn once, for the first of its screens. */
function spansOf(
  rows: readonly string[],
  from: number,
  screens: readonly (readonly string[])[],
): readonly Span[] {
  return rows.flatMap((row, index) => {
    if (row === '' || screens[from - 1]?.[index] === row) return [];
    const stays = screens.slice(from).findIndex((later) => later[index] !== row);
    return [{ row, from, until: stays < 0 ? screens.length : from + stays }];
  });
}

/** Each kind of span has an animation that shows its rows meanwhile, and hides them otherwise. */
function movement({ screens, still = 0 }: ScreenPicture, spans: readonly Span[]): string {
  const all = secondsOf(screens);
  const percent = (at: number) => `${round((100 * secondsOf(screens.slice(0, at))) / all)}%`;
  const kinds = new Map(spans.map((span) => [nameOf(span), span]));
  const rules = [...kinds].sort().map(([name, { from, until }]) => {
    const usually = from <= still && still < until ? 'visible' : 'hidden';
    const frames = [
      ...(from > 0 ? ['0%{visibility:hidden}'] : []),
      `${percent(from)}{visibility:visible}`,
      ...(until < screens.length ? [`${percent(until)}{visibility:hidden}`] : []),
    ];
    return `.${name}{visibility:${usually};animation:${name} ${all}s step-end infinite}@keyframes ${name}{${frames.join('')}}`;
  });
  return [...rules, '@media (prefers-reduced-motion:reduce){.screen g{animation:none}}', ''].join(
    '\n',
  );
}

function secondsOf(screens: readonly Screen[]): number {
  return screens.reduce((sum, { seconds = 2 }) => sum + seconds, 0);
}

/** The length of each text is fixed, so that columns stay below each other in every font. */
function drawPiece({ text, column, width, style }: Piece, row: number): string {
  const shown = text.trim();
  const before = text.length - text.trimStart().length;
  const x = MARGIN.x + column * CELL.width;
  const y = BAR + MARGIN.y + row * CELL.height;
  const length = round((width - (text.length - shown.length)) * CELL.width);
  const start = round(x + before * CELL.width);
  const box = `<rect x="${round(x)}" y="${y}" width="${round(width * CELL.width)}" height="${CELL.height}"${fill(paperOf(style))}/>`;
  const line = `<text x="${start}" y="${y + 13}" textLength="${length}" lengthAdjust="spacingAndGlyphs"${classes(style)}${fill(inkOf(style))}>${escapeText(shown)}</text>`;
  return [paperOf(style) === undefined ? '' : box, shown === '' ? '' : line].join('');
}

function inkOf({ ink, paper, inverse }: Style): number | string | undefined {
  return inverse ? (paper ?? 'var(--paper)') : ink;
}

function paperOf({ ink, paper, inverse }: Style): number | string | undefined {
  return inverse ? (ink ?? 'var(--ink)') : paper;
}

function fill(colour: number | string | undefined): string {
  if (colour === undefined) return '';
  return ` style="fill:${typeof colour === 'number' ? `var(--c${colour})` : colour}"`;
}

function classes({ bold, dim, italic, underline }: Style): string {
  const names = Object.entries({ bold, dim, italic, underline }).flatMap(([name, isOn]) =>
    isOn ? [name] : [],
  );
  return names.length === 0 ? '' : ` class="${names.join(' ')}"`;
}

function round(n: number): number {
  return Math.round(n * 100) / 100;
}

/** The colours of the diagrams, and a palette for the sixteen colours of a terminal. */
const STYLE = `
.screen {
  --paper: #ffffff; --ink: #1f2328; --bar: #f6f8fa; --edge: #d1d9e0; --dot: #d1d9e0; --faint: #656d76;
  --c0: #1f2328; --c1: #cf222e; --c2: #1a7f37; --c3: #9a6700; --c4: #0969da; --c5: #8250df; --c6: #1b7c83; --c7: #6e7781;
  --c8: #656d76; --c9: #a40e26; --c10: #2da44e; --c11: #7d4e00; --c12: #218bff; --c13: #a475f9; --c14: #3192aa; --c15: #424a53;
  font: 13px/1 ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  .screen {
    --paper: #0d1117; --ink: #e6edf3; --bar: #161b22; --edge: #30363d; --dot: #3d444d; --faint: #9198a1;
    --c0: #484f58; --c1: #ff7b72; --c2: #3fb950; --c3: #d29922; --c4: #58a6ff; --c5: #bc8cff; --c6: #39c5cf; --c7: #b1bac4;
    --c8: #9198a1; --c9: #ffa198; --c10: #56d364; --c11: #e3b341; --c12: #79c0ff; --c13: #d2a8ff; --c14: #56d4dd; --c15: #f0f6fc;
  }
}
.screen text { fill: var(--ink); white-space: pre; }
.screen .window { fill: var(--paper); stroke: var(--edge); }
.screen .bar { fill: var(--bar); stroke: var(--edge); }
.screen .dot { fill: var(--dot); }
.screen .title { fill: var(--faint); font-size: 12px; text-anchor: middle; }
.screen .bold { font-weight: 600; }
.screen .dim { opacity: 0.62; }
.screen .italic { font-style: italic; }
.screen .underline { text-decoration: underline; }
`;
