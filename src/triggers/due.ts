/**
 * The times of a schedule. A time that does not exist, in the night in which clocks go forward, comes when the
 * clocks have gone forward. A time that exists twice comes once, unless the schedule names every hour. The clock
 * is an argument, so a year can be played in a moment.
 */
import { Cron } from 'croner';
import type { ScheduleTrigger } from '../model/trigger.ts';

/** The first time after a moment; undefined if there is none. */
export function nextTime(trigger: ScheduleTrigger, after: number): number | undefined {
  return cronOf(trigger).nextRun(new Date(after))?.getTime();
}

export interface Due {
  /** The times that are to start a run, oldest first. */
  readonly times: readonly number[];
  /** The times that passed in vain, as one record for the newest of them. */
  readonly skipped?: { readonly time: number; readonly times: number; readonly why: string };
}

/** What is due after the last known time, up to now. A time that is more than a minute old was missed. */
export function dueTimes(trigger: ScheduleTrigger, after: number, now: number): Due {
  const all = timesBetween(trigger, after, now);
  const isMissed = (time: number) => now - time > ON_TIME_MS;
  switch (trigger.missed) {
    case 'once':
      // One run stands for all of them.
      return due(all.slice(-1), all.slice(0, -1), 'a later time was due as well');
    case 'skip':
      return due(
        all.filter((time) => !isMissed(time)),
        all.filter(isMissed),
        'nothing kept the triggers at that time',
      );
    case 'all':
      return due(all.slice(-MOST_MISSED), all.slice(0, -MOST_MISSED), 'too many times were missed');
  }
}

/** Whether an occasion was recorded long after the time for which its schedule asked. */
export const isLate = (time: number, at: number): boolean => at - time > ON_TIME_MS;

export const ON_TIME_MS = 60_000;
/** `missed: all` starts at most this many runs. */
const MOST_MISSED = 100;
/** More missed times than this are not counted one by one. */
const MOST_COUNTED = 1_000;

function due(times: readonly number[], skipped: readonly number[], why: string): Due {
  const time = skipped.at(-1);
  return time === undefined ? { times } : { times, skipped: { time, times: skipped.length, why } };
}

/** The newest times, if there are too many. */
function timesBetween(trigger: ScheduleTrigger, after: number, now: number): readonly number[] {
  const cron = cronOf(trigger);
  const from = (start: number) => {
    const times: number[] = [];
    let time = cron.nextRun(new Date(start))?.getTime();
    while (time !== undefined && time <= now && times.length <= MOST_COUNTED) {
      times.push(time);
      time = cron.nextRun(new Date(time))?.getTime();
    }
    return times;
  };
  const all = from(after);
  if (all.length <= MOST_COUNTED) return all;
  // The schedule was not kept for so long that only its newest times matter.
  const spans = [HOUR, 16 * HOUR, 24 * 31 * HOUR];
  for (const span of spans) {
    const newest = from(Math.max(after, now - span));
    if (newest.length > 0) return newest;
  }
  return all;
}

const HOUR = 3_600_000;

/** Reading a time zone takes longer than a step of the schedule. */
const known = new Map<string, Cron>();

function cronOf({ schedule, timezone }: ScheduleTrigger): Cron {
  const name = `${schedule} ${timezone}`;
  const found = known.get(name);
  if (found) return found;
  if (known.size >= MOST_KNOWN) known.clear();
  const cron = new Cron(schedule, { paused: true, ...(timezone !== undefined && { timezone }) });
  known.set(name, cron);
  return cron;
}

const MOST_KNOWN = 1_000;
