import type { TriggerShape } from '../../src/look/trigger-shape.ts';

export interface DueTime {
  readonly at: number;
  readonly workflow: string;
  readonly trigger: string;
}

export interface DueDay {
  /** `Today`, `Tomorrow`, or the date. */
  readonly name: string;
  readonly times: readonly DueTime[];
}

/** The next times of all schedules, by day. A schedule of every minute does not hide the others. */
export function dueDays(
  triggers: readonly Pick<TriggerShape, 'workflow' | 'name' | 'next'>[],
  now: number,
): readonly DueDay[] {
  const times = triggers
    .flatMap(({ workflow, name, next }) =>
      next.map((time) => ({ at: Date.parse(time), workflow, trigger: name })),
    )
    .filter(({ at }) => at >= now)
    .sort((a, b) => a.at - b.at || (a.workflow < b.workflow ? -1 : 1));
  const days = new Map<string, DueTime[]>();
  for (const time of times) {
    const name = dayName(time.at, now);
    const day = days.get(name);
    if (day) day.push(time);
    else if (days.size < MOST_DAYS) days.set(name, [time]);
  }
  return [...days].map(([name, all]) => ({ name, times: all.slice(0, MOST_TIMES) }));
}

const MOST_DAYS = 7;
const MOST_TIMES = 12;

const DAY = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short' });

function dayName(at: number, now: number): string {
  const name = DAY.format(at);
  if (name === DAY.format(now)) return 'Today';
  const tomorrow = new Date(now);
  tomorrow.setDate(tomorrow.getDate() + 1);
  return name === DAY.format(tomorrow) ? 'Tomorrow' : name;
}
