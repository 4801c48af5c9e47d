/** Draws a timeline as SVG, in the style of diagrams: without other files, for light and dark. */

import { rounded } from '../draw/lines.ts';
import { SVG_STYLE } from '../draw/svg-style.ts';
import { textWidth } from '../draw/text-width.ts';
import type { Span } from '../history/span.ts';
import { counted } from '../model/counted.ts';
import { escapeText } from '../model/escape.ts';
import { svgLegend } from './svg-legend.ts';
import type { Timeline, TimelineRow } from './timeline.ts';
import { TIMELINE_STYLE } from './timeline-style.ts';

interface SvgOptions {
  /** The time of the day. */
  readonly time: (ms: number) => string;
  readonly duration: (ms: number) => string;
  readonly usd: (amount: number, isEstimate?: boolean) => string;
}

export function svgTimeline(timeline: Timeline, options: SvgOptions): string {
  const { run, rows } = timeline;
  const legend = svgLegend(timeline);
  const height = TOP + rows.length * ROW + BOTTOM + legend.height;
  const indexes = new Map(rows.map(({ agent }, index) => [agent, index]));
  const pen: Pen = { timeline, options, indexOf: (agent) => indexes.get(agent) };
  return [
    `<svg class="raymond" xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>${escapeText(`Timeline of ${run}`)}</title>`,
    `<desc>${escapeText(describe(timeline))}</desc>`,
    `<style>${SVG_STYLE}${TIMELINE_STYLE}</style>`,
    `<rect width="${WIDTH}" height="${height}" fill="var(--paper)"/>`,
    `<text class="heading" x="${MARGIN}" y="26">${escapeText(run)}</text>`,
    ...rows.map((_, index) => stripe(index)),
    ...grid(pen),
    ...forks(pen),
    ...rows.map((row, index) => drawRow(pen, row, index)),
    ...joins(pen),
    `<g class="legend" transform="translate(0 ${TOP + rows.length * ROW + BOTTOM})">${legend.content}</g>`,
    '</svg>',
    '',
  ].join('\n');
}

/** The reason why a picture would be too large; undefined if it would not. */
export function tooLargeTimeline({ rows }: Timeline): string | undefined {
  if (rows.length <= MOST_ROWS) return undefined;
  return `The run has ${rows.length} agents, but a picture has at most ${MOST_ROWS} rows.`;
}

const MOST_ROWS = 2_000;

const [WIDTH, MARGIN, TOP, ROW, BOTTOM] = [1200, 24, 64, 22, 12];
/** Where the bars begin and end. */
const [LEFT, RIGHT] = [330, WIDTH - 44];
const [BAR_TOP, BAR] = [3, 16];

interface Pen {
  readonly timeline: Timeline;
  readonly options: SvgOptions;
  readonly indexOf: (agent: string) => number | undefined;
}

const xOf = ({ timeline: { axis } }: Pen, time: number) => LEFT + axis.place(time) * (RIGHT - LEFT);
const yOf = (index: number) => TOP + index * ROW;

function describe({ rows }: Timeline): string {
  const steps = rows.reduce((sum, row) => sum + row.spans.filter(isWork).length, 0);
  return `A row for each of ${counted(rows.length, 'agent')}, with ${counted(steps, 'step')}.`;
}

const isWork = ({ kind }: Span) => kind === 'work';

function stripe(index: number): string {
  if (index % 2 === 1) return '';
  return `<rect class="row" x="${MARGIN / 2}" y="${yOf(index)}" width="${WIDTH - MARGIN}" height="${ROW}"/>`;
}

/** Lines with the time of the day, and the cuts. */
function grid(pen: Pen): readonly string[] {
  const { axis, rows } = pen.timeline;
  const bottom = yOf(rows.length);
  const { time, duration } = pen.options;
  const ticks = Array.from({ length: TICKS + 1 }, (_, n) => {
    const x = rounded(LEFT + (n / TICKS) * (RIGHT - LEFT));
    return `<path class="grid" d="M${x} ${TOP - 6}V${bottom}"/><text class="tick" x="${x}" y="${TOP - 12}">${escapeText(time(axis.timeAt(n / TICKS)))}</text>`;
  });
  const cuts = axis.cuts.map((cut) => {
    const [from, to] = [rounded(xOf(pen, cut.from)), rounded(xOf(pen, cut.to))];
    const title = `<title>${escapeText(`nothing ran for ${duration(cut.to - cut.from)}`)}</title>`;
    return `<g>${title}<rect class="cut" x="${from}" y="${TOP}" width="${rounded(to - from)}" height="${bottom - TOP}"/><path class="cut-edge" d="M${from} ${TOP - 6}V${bottom}M${to} ${TOP - 6}V${bottom}"/><text class="tick" x="${rounded((from + to) / 2)}" y="${TOP - 28}">${escapeText(duration(cut.to - cut.from))}</text></g>`;
  });
  return [...ticks, ...cuts];
}

const TICKS = 6;

/** A line from a parent to the children that it forked at one time. */
function forks(pen: Pen): readonly string[] {
  const ends = new Map<string, { readonly x: number; readonly from: number; to: number }>();
  for (const [index, { parent, bornAt }] of pen.timeline.rows.entries()) {
    const above = parent === undefined ? undefined : pen.indexOf(parent);
    if (above === undefined) continue;
    const x = rounded(xOf(pen, bornAt));
    const known = ends.get(`${above} ${x}`);
    if (known) known.to = index;
    else ends.set(`${above} ${x}`, { x, from: above, to: index });
  }
  return [...ends.values()].map(
    ({ x, from, to }) =>
      `<path class="fork" d="M${x} ${yOf(from) + ROW / 2}V${yOf(to) + ROW / 2}"/>`,
  );
}

/** A line from the last of the joined children to the agent that waited for them. */
function joins(pen: Pen): readonly string[] {
  return pen.timeline.rows.flatMap(({ spans }, index) =>
    spans.flatMap(({ kind, children = [], to }) => {
      if (kind !== 'join') return [];
      const rows = children.flatMap((child) => pen.indexOf(child) ?? []);
      const last = rows.reduce((a, b) => Math.max(a, b), index);
      if (last === index) return [];
      const x = rounded(xOf(pen, to));
      return [`<path class="joined" d="M${x} ${yOf(last) + ROW / 2}V${yOf(index) + ROW / 2}"/>`];
    }),
  );
}

function drawRow(pen: Pen, row: TimelineRow, index: number): string {
  const y = yOf(index);
  const { agent, variables, workedMs, status, endAt, spans } = row;
  const values = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const last = endAt ?? spans.at(-1)?.to;
  const room = LEFT - MARGIN - FIGURE - 16;
  const name = shortened(agent, room);
  const more = shortened(Object.values(variables).join(' '), room - textWidth(`${name} `, 12));
  return [
    `<g><title>${escapeText(shortTitle([agent, ...values].join(' ')))}</title>`,
    `<text class="agent" x="${MARGIN}" y="${y + 15}">${escapeText(name)}`,
    more === '' ? '' : ` <tspan class="values">${escapeText(more)}</tspan>`,
    '</text></g>',
    `<text class="figure" x="${LEFT - 12}" y="${y + 15}">${escapeText(pen.options.duration(workedMs))}</text>`,
    ...merged(pen, spans).map((bar) => drawBar(pen, bar, y)),
    last === undefined
      ? ''
      : `<text class="end ${status}" x="${rounded(xOf(pen, last) + 5)}" y="${y + 15}">${END_SIGNS[status]}</text>`,
  ].join('');
}

const FIGURE = 70;
const END_SIGNS: Readonly<Record<TimelineRow['status'], string>> = {
  ended: '✓',
  failed: '✗',
  stopped: '■',
  rewound: '↺',
  asking: '?',
  live: '▸',
};

interface Bar {
  readonly span: Span;
  readonly from: number;
  to: number;
  count: number;
  hasFailed: boolean;
}

/** Spans that would share a pixel are one bar, so a picture of many steps stays small. */
function merged(pen: Pen, spans: readonly Span[]): readonly Bar[] {
  const bars: Bar[] = [];
  for (const span of spans) {
    const [from, to] = [rounded(xOf(pen, span.from)), rounded(xOf(pen, span.to))];
    const last = bars.at(-1);
    const isSame = last?.span.kind === span.kind && last.span.isAbandoned === span.isAbandoned;
    const isNear = last && isSame && to - last.from < NEAR;
    if (isNear) {
      last.to = Math.max(last.to, to);
      last.count += 1;
      last.hasFailed ||= span.end === 'failed';
    } else bars.push({ span, from, to, count: 1, hasFailed: span.end === 'failed' });
  }
  return bars;
}

const NEAR = 2;

function drawBar(pen: Pen, { span, from, to, count, hasFailed }: Bar, y: number): string {
  const { kind, state, end, isPrompt, isAbandoned } = span;
  const title = `<title>${escapeText(titleOf(pen, span, count))}</title>`;
  if (kind !== 'work') {
    const middle = y + ROW / 2;
    return `<g>${title}<path class="wait ${kind}" d="M${from} ${middle}H${Math.max(to, from + 1)}"/></g>`;
  }
  const width = rounded(Math.max(1.5, to - from));
  const look = hasFailed ? 'failed' : isPrompt ? 'prompt' : 'script';
  const classes = `span ${look}${end === 'interrupted' ? ' interrupted' : ''}${isAbandoned ? ' abandoned' : ''}`;
  const name = nameIn(state, width);
  const text =
    name === ''
      ? ''
      : `<text class="state" x="${rounded(from + 4)}" y="${y + 15}">${escapeText(name)}</text>`;
  return `<g>${title}<rect class="${classes}" x="${from}" y="${y + BAR_TOP}" width="${width}" height="${BAR}" rx="2"/>${text}</g>`;
}

function titleOf({ options }: Pen, span: Span, count: number): string {
  const { kind, state, from, to, step, end, costUsd, isPriced, isAbandoned } = span;
  const took = options.duration(to - from);
  if (count > 1) return `${state} and ${counted(count - 1, 'further span')}`;
  if (kind !== 'work') return `${WAITS[kind]} for ${took}, at ${state}`;
  const cost = costUsd > 0 ? `, ${options.usd(costUsd, isPriced)}` : '';
  return `${state}, step ${step}: ${took}${cost}${end ? `, ${end}` : ''}${isAbandoned ? ', abandoned' : ''}`;
}

const WAITS: Readonly<Record<Exclude<Span['kind'], 'work'>, string>> = {
  join: 'waited for its child agents',
  ask: 'waited for an answer',
  retry: 'waited for a retry',
  limit: 'waited for the usage limit',
};

/** The name of a state, if at least its first letters fit. */
function nameIn(state: string, width: number): string {
  const name = state.replace(/\.\w+$/, '');
  const room = width - 8;
  if (textWidth(name, 10) <= room) return name;
  const short = shortened(name, room, 10);
  return short.length >= LEAST_LETTERS ? short : '';
}

const LEAST_LETTERS = 4;

function shortened(text: string, room: number, fontSize = 12): string {
  if (textWidth(text, fontSize) <= room) return text;
  let [short, width] = ['', textWidth('…', fontSize)];
  for (const character of text) {
    width += textWidth(character, fontSize);
    if (width > room) break;
    short += character;
  }
  return short === '' ? '' : `${short}…`;
}

const shortTitle = (text: string) => (text.length > 300 ? `${text.slice(0, 300)}…` : text);
