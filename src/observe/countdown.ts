import { openLimits } from '../model/limits.ts';
import type { Run } from '../model/run.ts';
import { deadlineOf, waitsForPerson } from '../model/tally.ts';
import type { Clock, Observer } from '../ports.ts';
import type { Line } from './describe.ts';
import { duration, time } from './words.ts';

const MINUTE = 60_000;

/**
 * While a run only waits for a time, reports what it waits for and, from time to time, how long.
 * `waitsForDeadlines` is false while a user sees the questions, or when the process ends instead.
 */
export function countdown(
  clock: Clock,
  say: (line: Line) => void,
  waitsForDeadlines: () => boolean,
): Countdown {
  let run: Run | undefined;
  let current: Wait | undefined;
  let cancel = () => {};

  const tick = (wait: Wait) => {
    const left = wait.until - clock.now();
    if (left <= 0) return;
    cancel = clock.at(clock.now() + pauseBefore(left), () => {
      if (clock.now() < wait.until) report(wait);
      tick(wait);
    });
  };
  const report = ({ who, what, until }: Wait) => {
    const at = clock.now();
    const text = `${what}: ${duration(until - at)} left, until ${time(until, at)}`;
    say({ at, who, tone: 'warning', text });
  };

  const look = (isShown = false) => {
    const wait = run && waitOf(run, waitsForDeadlines, clock.now());
    if (wait?.until === current?.until && wait?.who === current?.who) return;
    cancel();
    current = wait;
    if (!wait || wait.until <= clock.now()) return;
    if (!isShown) report(wait);
    tick(wait);
  };

  return {
    event(event, _before, after) {
      run = after;
      // The line of that event already has the time.
      look(event.type === 'usage-limited');
    },
    live: () => {},
    look,
    close: () => cancel(),
  };
}

export interface Countdown extends Observer {
  /** Checks again what the run waits for, because the user has left. */
  look(): void;
  close(): void;
}

interface Wait {
  readonly who: string;
  readonly what: string;
  readonly until: number;
}

function waitOf(run: Run, waitsForDeadlines: () => boolean, now: number): Wait | undefined {
  const { status, tally, limits, settings } = run;
  if (status.kind !== 'active') return undefined;
  const [limit] = openLimits(limits, now);
  if (limit) return { who: 'run', what: limit.text, until: limit.until };
  const moves = run.agents.size > waitsForPerson(tally) + tally.joining + tally.failed;
  if (moves || tally.deadlines === 0 || !settings.wait || !waitsForDeadlines()) return undefined;
  return nextDeadline(run);
}

function nextDeadline({ agents }: Run): Wait | undefined {
  let next: Wait | undefined;
  for (const [who, { status }] of agents) {
    const until = deadlineOf(status);
    if (until === undefined || (next && next.until <= until)) continue;
    const what = status.kind === 'asking' ? 'waits for an answer' : 'waits for its child agents';
    next = { who, what, until };
  }
  return next;
}

/** Rarely while much time is left, every minute at the end. */
function pauseBefore(left: number): number {
  return left > 30 * MINUTE ? 15 * MINUTE : MINUTE;
}
