import type { Run } from '../model/run.ts';
import type { Clock } from '../ports.ts';

/**
 * A clock that never waits. Time passes only while the run waits for it. The steps of a test take
 * no time, so no deadline passes while a child works. Then the clock jumps to the next time
 * that someone waits for.
 */
export interface JumpingClock extends Clock {
  /** The run after its newest events. */
  follow(run: Run): void;
  /** Resolves after a step of this duration. Other steps do not wait for it. */
  pass(ms: number): PassingTime;
  /** No time passes until the work is done. */
  during<T>(work: Promise<T>): Promise<T>;
}

export interface PassingTime {
  readonly over: Promise<void>;
  /** Ends it early. */
  end(): void;
}

export function jumpingClock(start = Date.UTC(2026, 0, 1)): JumpingClock {
  const timers = new Set<Timer>();
  let now = start;
  let run: Run | undefined;
  /** The number of steps that wait for the clock themselves. */
  let passing = 0;
  /** The number of works that take no time. */
  let working = 0;
  /** The number of iterations at which time last passed. */
  let iterations = 0;

  const isBusy = (): boolean => {
    if (working > 0) return true;
    if (!run) return false;
    const { promptsRunning, scriptsRunning } = run.tally;
    // A script may poll until a deadline has passed.
    if (run.iterations >= iterations + MOST_STEPS_AT_ONE_TIME) return false;
    return promptsRunning + scriptsRunning > passing;
  };
  const jump = () => {
    if (isBusy()) return;
    const next = [...timers].reduce<Timer | undefined>(
      (first, timer) => (first && first.time <= timer.time ? first : timer),
      undefined,
    );
    if (!next) return;
    timers.delete(next);
    now = Math.max(now, next.time);
    iterations = run?.iterations ?? 0;
    next.callback();
    look();
  };
  // The loop first handles what it already has.
  const look = () => void setImmediate(jump);
  const at: Clock['at'] = (time, callback) => {
    const timer = { time, callback };
    timers.add(timer);
    look();
    return () => void timers.delete(timer);
  };

  return {
    now: () => now++,
    at,
    follow(after) {
      run = after;
      look();
    },
    pass(ms) {
      passing++;
      let end = () => {};
      const over = new Promise<void>((resolve) => {
        const cancel = at(now + ms, resolve);
        end = () => {
          cancel();
          resolve();
        };
      });
      return { over: over.then(() => void passing--), end };
    },
    during(work) {
      working++;
      return work.finally(() => {
        working--;
        look();
      });
    },
  };
}

/** Wakes nobody: the recording of a run says when a time has come. */
export function stillClock(clock: JumpingClock): JumpingClock {
  return { ...clock, at: () => () => {} };
}

interface Timer {
  readonly time: number;
  readonly callback: () => void;
}

const MOST_STEPS_AT_ONE_TIME = 100;
