/** Words and figures of the page. Text of others is cleaned, as on a terminal. */
import { visible } from '../../src/model/visible.ts';
import { duration, elapsed, oneLine, usd } from '../../src/observe/words.ts';

export { duration, elapsed, oneLine, usd, visible };

/** An amount of the API. Estimates are marked, as in the terminal. */
export const costText = (of: {
  readonly cost_usd: number;
  readonly cost_is_estimate?: true | undefined;
}) => usd(of.cost_usd, of.cost_is_estimate);

export const msOf = (time: string) => Date.parse(time);

// To make a format takes a thousand times as long as to use it, and a log has hundreds of times.
const HOURS = new Intl.DateTimeFormat([], { timeStyle: 'short', hourCycle: 'h23' });
const SECONDS = new Intl.DateTimeFormat([], { timeStyle: 'medium', hourCycle: 'h23' });
const DAY = new Intl.DateTimeFormat([], { day: 'numeric', month: 'short' });

/** `12:05`, with the date if it is not today. */
export function clock(time: string | number, now: number): string {
  const date = new Date(time);
  const hours = HOURS.format(date);
  if (date.toDateString() === new Date(now).toDateString()) return hours;
  return `${DAY.format(date)} ${hours}`;
}

/** `12:05:59`. */
export const clockSeconds = (time: number) => SECONDS.format(time);

/** `just now`, `5 min ago`. */
export function ago(time: string, now: number): string {
  const seconds = Math.max(0, (now - msOf(time)) / 1000);
  if (seconds < 45) return 'just now';
  if (seconds < 3600) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86_400)} d ago`;
}

/** The last part of a path: `review` of `workflows/review.zip`. */
export function lastName(path: string): string {
  const name = path.split('/').filter(Boolean).at(-1) ?? path;
  return visible(name.replace(/\.(?:zip|ya?ml)$/, ''));
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** The text of a result. JSON that a schema has checked gets lines of its own. */
export function readable(text: string, json: unknown): string {
  return json === undefined ? text : JSON.stringify(json, null, 2);
}
