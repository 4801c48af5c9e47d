/** Draws a timeline as text: a row for each agent, with bars in proportion to time. */

import type { Span } from '../history/span.ts';
import { visible } from '../model/visible.ts';
import type { Timeline, TimelineRow } from './timeline.ts';

interface TextOptions {
  readonly columns: number;
  /** Whether the reader's terminal shows more than ASCII. */
  readonly isUnicode: boolean;
  /** The time of the day. */
  readonly time: (ms: number) => string;
  readonly duration: (ms: number) => string;
  readonly width: (text: string) => number;
}

export interface TextRow {
  readonly text: string;
  readonly status: TimelineRow['status'] | 'note';
}

export function textTimeline(timeline: Timeline, options: TextOptions): readonly TextRow[] {
  const { rows, axis } = timeline;
  const signs = options.isUnicode ? UNICODE : ASCII;
  const labels = rows.map(labelOf);
  const times = rows.map(({ workedMs }) => options.duration(workedMs));
  const widest = (texts: readonly string[], least: string) =>
    texts.reduce((most, text) => Math.max(most, options.width(text)), least.length);
  const label = Math.min(widest(labels, 'AGENT'), Math.floor(options.columns * 0.35));
  const worked = widest(times, 'WORKED');
  const cells = Math.max(10, options.columns - label - worked - 5);
  const lead = (name: string, time: string) =>
    `${fitted(name, label, options.width)}  ${time.padStart(worked)}  `;
  const bars = rows.map((row) => bar(timeline, row, cells, signs));
  return [
    { text: `${lead('AGENT', 'WORKED')}${ticks(timeline, cells, options)}`, status: 'note' },
    ...rows.map((row, i) => ({
      text: `${lead(labels[i] ?? '', times[i] ?? '')}${bars[i]}`.trimEnd(),
      status: row.status,
    })),
    { text: '', status: 'note' },
    ...legend(timeline, signs, bars.join('')).map((text) => ({ text, status: 'note' as const })),
    ...(axis.cuts.length === 0
      ? []
      : [
          {
            text: cutText(
              restsText(timeline, options),
              bars.join('').includes(signs.cut) && signs.cut,
            ),
            status: 'note' as const,
          },
        ]),
  ];
}

interface Signs extends Readonly<Record<Span['kind'], string>> {
  /** The first cell of a step. */
  readonly start: string;
  /** The rest of a step that a rewind has abandoned. */
  readonly abandoned: string;
  readonly failedStep: string;
  readonly cut: string;
  readonly end: Readonly<Record<TimelineRow['status'], string>>;
}

const UNICODE: Signs = {
  work: '━',
  abandoned: '╌',
  start: '┣',
  join: '┄',
  ask: '?',
  retry: '·',
  limit: '~',
  failedStep: '✗',
  cut: '╱',
  end: { ended: '✓', failed: '✗', stopped: '■', rewound: '↺', asking: '?', live: '▶' },
};

const ASCII: Signs = {
  work: '=',
  abandoned: ':',
  start: '[',
  join: '-',
  ask: '?',
  retry: '.',
  limit: '~',
  failedStep: 'X',
  cut: '/',
  end: { ended: ']', failed: 'X', stopped: '#', rewound: '<', asking: '?', live: '>' },
};

function labelOf({ agent, variables }: TimelineRow): string {
  const values = Object.values(variables);
  return visible([agent, ...values].join(' ').slice(0, 200)).replace(/\s+/g, ' ');
}

function fitted(text: string, room: number, width: TextOptions['width']): string {
  if (width(text) <= room) return text + ' '.repeat(room - width(text));
  let cut = '';
  for (const character of text) {
    if (width(cut + character) > room - 3) break;
    cut += character;
  }
  return `${cut}...${' '.repeat(Math.max(0, room - 3 - width(cut)))}`;
}

/** The times of the day, as many as there is room for. */
function ticks({ axis }: Timeline, cells: number, { time }: TextOptions): string {
  const first = time(axis.from);
  const count = Math.max(1, Math.floor(cells / (first.length + 8)));
  let line = '';
  for (let n = 0; n < count; n += 1) {
    const at = Math.round((n * cells) / count);
    line = `${line.padEnd(at)}${time(axis.timeAt(n / count))}`;
  }
  const last = time(axis.to);
  return line.length + last.length + 2 <= cells ? line.padEnd(cells - last.length) + last : line;
}

function bar({ axis }: Timeline, row: TimelineRow, cells: number, signs: Signs): string {
  const line: string[] = Array.from({ length: cells + 1 }, () => ' ');
  const cellOf = (time: number) => Math.min(cells - 1, Math.floor(axis.place(time) * cells));
  for (const cut of axis.cuts) {
    const at = cellOf((cut.from + cut.to) / 2);
    if (at > 0) line[at] = signs.cut;
  }
  for (const span of row.spans) {
    const [from, to] = [cellOf(span.from), cellOf(span.to)];
    const text = span.kind === 'work' ? stepText(span, to - from + 1, signs) : '';
    for (let at = from; at <= to; at += 1) line[at] = text[at - from] ?? signs[span.kind];
  }
  // A failed step stays visible, however many steps share its cell.
  const tries = row.status === 'failed' ? row.spans.slice(0, -1) : row.spans;
  for (const { end, to } of tries) if (end === 'failed') line[cellOf(to)] = signs.failedStep;
  const last = row.endAt ?? row.spans.at(-1)?.to;
  if (last !== undefined) line[Math.min(cells, cellOf(last) + 1)] = signs.end[row.status];
  return line.join('');
}

/** `┣START━━━`: the name of the state, if it fits. */
function stepText({ state, isAbandoned }: Span, room: number, signs: Signs): string {
  const rest = isAbandoned ? signs.abandoned : signs.work;
  if (room < 2) return rest;
  const name = visible(state)
    .replace(/\.\w+$/, '')
    .replace(/[^\x21-\x7e]/g, '_');
  const shown = room >= MIN_ROOM ? name.slice(0, room - 2) : '';
  return `${signs.start}${shown}`.padEnd(room, rest);
}

/** Fewer letters of a name mean nothing to a reader. */
const MIN_ROOM = 5;

/** Explains only what is drawn: a short wait may share its cell with a step. */
function legend({ rows }: Timeline, signs: Signs, drawn: string): readonly string[] {
  const kinds = new Set(rows.flatMap(({ spans }) => spans.map(({ kind }) => kind)));
  const statuses = new Set(rows.map(({ status }) => status));
  const waits: readonly (readonly [Span['kind'], string])[] = [
    ['work', 'a step'],
    ['join', 'waits for its child agents'],
    ['ask', 'waits for an answer'],
    ['retry', 'waits for a retry'],
    ['limit', 'waits for the usage limit'],
  ];
  const ends: readonly (readonly [TimelineRow['status'], string])[] = [
    ['ended', 'ended'],
    ['failed', 'failed'],
    ['stopped', 'stopped'],
    ['rewound', 'gone after a rewind'],
    ['live', 'not over'],
  ];
  const isAnyAbandoned = rows.some(({ spans }) => spans.some(({ isAbandoned }) => isAbandoned));
  const parts = [
    ...(isAnyAbandoned && drawn.includes(signs.abandoned)
      ? [`${signs.start}${signs.abandoned} abandoned by a rewind`]
      : []),
    ...waits.flatMap(([kind, words]) =>
      kinds.has(kind) && drawn.includes(kind === 'work' ? signs.start : signs[kind])
        ? [`${kind === 'work' ? signs.start : ''}${signs[kind]} ${words}`]
        : [],
    ),
    ...(drawn.includes(signs.failedStep) && !statuses.has('failed')
      ? [`${signs.failedStep} a step that failed`]
      : []),
    ...ends.flatMap(([status, words]) =>
      statuses.has(status) && drawn.includes(signs.end[status])
        ? [`${signs.end[status]} ${words}`]
        : [],
    ),
  ];
  return parts.length === 0 ? [] : [parts.join('   ')];
}

function cutText(rest: string, sign: string | false): string {
  return sign === false
    ? `A rest of ${rest} is drawn shorter.`
    : `${sign} stands for a rest of ${rest}, drawn shorter.`;
}

function restsText({ axis }: Timeline, { duration }: TextOptions): string {
  const [first, ...others] = axis.cuts.map(({ from, to }) => to - from);
  if (first === undefined) return '';
  const longest = others.reduce((a, b) => Math.max(a, b), first);
  return others.length === 0 ? duration(first) : `up to ${duration(longest)}`;
}
