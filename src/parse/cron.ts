/** The five fields of a schedule, checked without a clock. What is due when is computed elsewhere. */

/** Why a text is no schedule, or why it never comes; undefined when it is one. */
export function scheduleProblem(text: string): ScheduleProblem | undefined {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== FIELDS.length)
    return { code: 'bad-schedule', message: `a schedule has five fields, not ${fields.length}` };
  const sets: ReadonlySet<number>[] = [];
  for (const [index, field] of FIELDS.entries()) {
    const values = readField(fields[index] ?? '', field);
    if (!values) {
      const { name, least, most } = field;
      const message = `"${fields[index]}" is not a list of ${name}s from ${least} to ${most}`;
      return { code: 'bad-schedule', message };
    }
    sets.push(values);
  }
  const [, , days, months] = sets;
  const isAnyWeekday = fields[4] === '*';
  if (isAnyWeekday && days && months && !existsIn(days, months))
    return { code: 'never-due', message: 'no month that it names has a day that it names' };
  return undefined;
}

export interface ScheduleProblem {
  readonly code: 'bad-schedule' | 'never-due';
  readonly message: string;
}

/** Why a text is no time zone that this machine knows. */
export function timezoneProblem(name: string): string | undefined {
  // An offset has no daylight saving time, and not every version of Node takes one.
  if (!/^[A-Za-z]/.test(name)) return `"${name}" is not a name like Europe/Berlin`;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return undefined;
  } catch {
    return `the time zone "${name}" is unknown`;
  }
}

interface CronField {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  readonly words?: readonly string[];
}

const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ');
const WEEKDAYS = 'SUN MON TUE WED THU FRI SAT'.split(' ');

const FIELDS: readonly CronField[] = [
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day', least: 1, most: 31 },
  { name: 'month', least: 1, most: 12, words: MONTHS },
  { name: 'weekday', least: 0, most: 7, words: WEEKDAYS },
];

/** The values of a field: `*`, `5`, `1-5`, `10-40/15`, and lists of these. */
function readField(text: string, field: CronField): ReadonlySet<number> | undefined {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const { from, to, step } = PART.exec(part)?.groups ?? {};
    if (from === undefined) return undefined;
    const first = from === '*' ? field.least : numberOf(from, field);
    const last = from === '*' ? field.most : to === undefined ? first : numberOf(to, field);
    const every = step === undefined ? 1 : Number(step);
    // A step needs a range: 5/15 means different things to different programs.
    const isLone = step !== undefined && from !== '*' && to === undefined;
    if (first === undefined || last === undefined || first > last || every < 1 || isLone)
      return undefined;
    if (every > field.most) return undefined;
    for (let value = first; value <= last; value += every) values.add(value);
  }
  return values;
}

const PART = /^(?<from>\*|\w+)(?:(?<!\*)-(?<to>\w+))?(?:\/(?<step>\d{1,2}))?$/;

function numberOf(text: string, { least, most, words = [] }: CronField): number | undefined {
  const word = words.indexOf(text.toUpperCase());
  if (word >= 0) return word + least;
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
}

const LONGEST_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function existsIn(days: ReadonlySet<number>, months: ReadonlySet<number>): boolean {
  const first = [...days].reduce((a, b) => Math.min(a, b));
  return [...months].some((month) => first <= (LONGEST_MONTHS[month - 1] ?? 0));
}
