// Reads from the message of an agent when a limit ends, in the forms in which the agents write it.
import { attempt } from '../../model/attempt.ts';

/** Undefined if the message does not say it. */
export function readReset(
  message: string,
  now: number,
  localZone = Intl.DateTimeFormat().resolvedOptions().timeZone,
): number | undefined {
  // A report of a limit is short. The patterns below would be slow on long texts.
  const text = message.slice(0, 2_000);
  return (
    readEpoch(text) ??
    readInstant(text) ??
    readDuration(text, now) ??
    readClock(text, now, localZone)
  );
}

/** 2026-11-20T19:10:00Z */
function readInstant(text: string): number | undefined {
  const [date = ''] =
    /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)/.exec(text) ?? [];
  const time = Date.parse(date);
  return Number.isNaN(time) ? undefined : time;
}

function readEpoch(text: string): number | undefined {
  const digits = /\|\s*(\d{13}|\d{10})\b/.exec(text)?.[1];
  return digits === undefined ? undefined : epochMs(Number(digits));
}

/** Times are in seconds or in milliseconds. */
export function epochMs(time: number): number {
  return time < 100_000_000_000 ? time * 1000 : time;
}

const unitsMs: Readonly<Record<string, number>> = {
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
};

function readDuration(text: string, now: number): number | undefined {
  const duration =
    /\b(?:resets?|again|available|retry) (?:in|after) ((?:\d+ ?[a-z]+[ ,]*(?:and )?)+)/i.exec(text);
  let sum = 0;
  for (const [, count, unit = ''] of duration?.[1]?.matchAll(/(\d+) ?([a-z])/gi) ?? []) {
    sum += Number(count) * (unitsMs[unit.toLowerCase()] ?? 0);
  }
  return sum === 0 ? undefined : now + sum;
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const introduction = '(?:resets?|again|access)(?: (?:at|on))? ';
const isoDay = String.raw`(?<isoYear>\d{4})-(?<isoMonth>\d\d)-(?<isoDay>\d\d)`;
const monthDay = String.raw`(?<month>${months.join('|')})[a-z]*\.? (?<day>\d{1,2})(?:st|nd|rd|th)?(?:,? (?<year>\d{4}))?`;
const weekday = String.raw`(?<weekday>${weekdays.join('|')})[a-z]*\.?`;
const dayPart = `(?:${isoDay}|${monthDay}|${weekday}|(?<relative>today|tomorrow))`;
const timePart = String.raw`(?<hour>\d{1,2})(?::(?<minute>\d\d))?(?::\d\d)?(?:\.\d+)? ?(?<half>[ap]\.?m\b)?`;
const zonePart = String.raw`\s*\(?(?<zone>[A-Z][A-Za-z]+(?:[/_+-][A-Za-z0-9_+-]+)*)?`;
const clock = new RegExp(
  `\\b${introduction}(?:${dayPart}(?:(?:,? (?:at )?|T)${timePart})?|${timePart.replaceAll('?<', '?<only_')})${zonePart}`,
  'i',
);

function readClock(text: string, now: number, localZone: string): number | undefined {
  const found = clock.exec(text)?.groups;
  if (found === undefined) return undefined;
  const time = readTime(found);
  if (time === undefined) return undefined;
  const zone = knownZone(found.zone) ?? localZone;
  const today = dayIn(zone, now);
  const at = (day: number) => instant(zone, day + time);

  if (found.isoYear !== undefined) {
    return at(Date.UTC(Number(found.isoYear), Number(found.isoMonth) - 1, Number(found.isoDay)));
  }
  if (found.month !== undefined) return readMonthDay(found, today, at, now);
  if (found.relative?.toLowerCase() === 'tomorrow') return at(today + DAY_MS);
  const wanted = weekdays.indexOf(found.weekday?.toLowerCase() ?? '');
  if (wanted === -1) return upcoming(at, today, 1, now);
  const days = (wanted - new Date(today).getUTCDay() + 7) % 7;
  return upcoming(at, today + days * DAY_MS, 7, now);
}

function readMonthDay(
  found: Readonly<Record<string, string | undefined>>,
  today: number,
  at: (day: number) => number,
  now: number,
): number {
  const month = months.indexOf(found.month?.toLowerCase() ?? '');
  const inYear = (year: number) => at(Date.UTC(year, month, Number(found.day)));
  if (found.year !== undefined) return inYear(Number(found.year));
  // No limit lasts half a year, so an older date means next year.
  const year = new Date(today).getUTCFullYear();
  return inYear(year) > now - 180 * DAY_MS ? inYear(year) : inYear(year + 1);
}

// Claude Code rounds the time, so a time that has just passed does not mean the next day or week.
const justPassedMs = 15 * 60_000;

function upcoming(at: (day: number) => number, day: number, period: number, now: number): number {
  const first = at(day);
  return first > now - justPassedMs ? first : at(day + period * DAY_MS);
}

/** The time of the day, in ms. */
function readTime(found: Readonly<Record<string, string | undefined>>): number | undefined {
  const hourText = found.hour ?? found.only_hour;
  const minuteText = found.minute ?? found.only_minute;
  const half = (found.half ?? found.only_half)?.[0]?.toLowerCase();
  // A day without a time means midnight. A number alone is not a time.
  if (hourText === undefined) return 0;
  if (minuteText === undefined && half === undefined) return undefined;
  const hourNumber = Number(hourText);
  const minute = Number(minuteText ?? 0);
  const hour = half === undefined ? hourNumber : (hourNumber % 12) + (half === 'p' ? 12 : 0);
  const isTime = hourNumber <= (half === undefined ? 23 : 12) && minute < 60;
  return isTime ? (hour * 60 + minute) * 60_000 : undefined;
}

function knownZone(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  return attempt(
    () => new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone,
  );
}

/** A day is its midnight in UTC, where every day has 24 hours. */
const DAY_MS = 86_400_000;

function dayIn(zone: string, now: number): number {
  return Math.floor(wallClock(zone, now) / DAY_MS) * DAY_MS;
}

/** The instant at which clocks in the zone show this time. A skipped hour counts as the hour after it. */
function instant(zone: string, shown: number): number {
  const guess = shown - (wallClock(zone, shown) - shown);
  const offset = wallClock(zone, guess) - guess;
  return shown - offset;
}

/** The local time in the zone at an instant, encoded as UTC milliseconds. */
function wallClock(zone: string, at: number): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(at);
  const part = (type: string) => Number(parts.find((each) => each.type === type)?.value);
  const day = Date.UTC(part('year'), part('month') - 1, part('day'));
  return day + ((part('hour') * 60 + part('minute')) * 60 + part('second')) * 1000;
}
