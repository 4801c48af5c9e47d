import { UserError } from '../../model/user-error.ts';
import { type Tone, widthOf } from '../../observe/screen.ts';
import { clockTime, duration, usd } from '../../observe/words.ts';
import { svgTimeline, tooLargeTimeline } from '../../timeline/svg-timeline.ts';
import { type TextRow, textTimeline } from '../../timeline/text-timeline.ts';
import type { Timeline } from '../../timeline/timeline.ts';
import { stdout } from '../terminal/terminal.ts';
import { isUnicode } from '../terminal/unicode.ts';

export function showTimeline(timeline: Timeline): void {
  const columns = Math.max(50, stdout.columns() ?? PIPED_COLUMNS);
  const rows = textTimeline(timeline, {
    columns,
    isUnicode: isUnicode(process.env),
    time: tickOf(timeline),
    duration,
    width: widthOf,
  });
  stdout.rows(...rows.map(({ text, status }) => [{ text, tone: TONES[status] }]));
}

export async function writeSvg(timeline: Timeline): Promise<void> {
  const problem = tooLargeTimeline(timeline);
  if (problem !== undefined)
    throw new UserError('too-large', problem, 'Omit --svg to get the timeline as text.');
  await stdout.document(svgTimeline(timeline, { time: tickOf(timeline), duration, usd }));
}

const PIPED_COLUMNS = 100;

/** In a short run all times of the day would be the same. */
function tickOf({ axis: { from, to } }: Timeline): (ms: number) => string {
  return to - from < 60_000 ? (ms) => duration(ms - from) : clockTime;
}

const TONES: Readonly<Record<TextRow['status'], Tone>> = {
  ended: 'plain',
  failed: 'bad',
  stopped: 'faint',
  rewound: 'faint',
  asking: 'warning',
  live: 'plain',
  note: 'faint',
};
