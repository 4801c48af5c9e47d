/** When a limit ends, according to the message of an agent; undefined if it does not say so. */
export function readReset(message: string, now: number): number | undefined {
  return readDate(message) ?? readSeconds(message, now) ?? readClock(message, now);
}

/** 2026-11-20T19:10:00Z */
function readDate(message: string): number | undefined {
  const [date = ''] =
    /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)/.exec(message) ?? [];
  const time = Date.parse(date);
  return Number.isNaN(time) ? undefined : time;
}

/** "try again in 60 s" */
function readSeconds(message: string, now: number): number | undefined {
  const [, seconds] =
    /(?:try again|resets?|retry) (?:in|after) (\d{1,7}) ?s(?:ec|\b)/i.exec(message) ?? [];
  return seconds === undefined ? undefined : now + Number(seconds) * 1000;
}

/** "try again at 7:10 PM" or "try again at Nov 20th, 2026 7:10 PM", in the local time. */
function readClock(message: string, now: number): number | undefined {
  const [, date, hours, minutes, half] =
    /try again at (?:(\w{3} \d{1,2}(?:st|nd|rd|th)?,? \d{4}),? )?(\d{1,2}):(\d{2}) ?([AP]M)/i.exec(
      message,
    ) ?? [];
  if (hours === undefined || minutes === undefined) return undefined;
  const day =
    date === undefined ? new Date(now) : new Date(date.replace(/(\d)(?:st|nd|rd|th)/, '$1'));
  if (Number.isNaN(day.getTime())) return undefined;
  const isAfternoon = half?.toUpperCase() === 'PM';
  day.setHours((Number(hours) % 12) + (isAfternoon ? 12 : 0), Number(minutes), 0, 0);
  const isPast = date === undefined && day.getTime() <= now;
  return day.getTime() + (isPast ? 24 * 60 * 60_000 : 0);
}
