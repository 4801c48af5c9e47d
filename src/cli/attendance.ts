/** The person who may answer the questions of a run, and the countdown while the run waits. */
import type { NamedObserver } from '../host/observe-all.ts';
import { rehearsedPerson } from '../host/rehearsed-person.ts';
import type { SkippingClock } from '../host/skipping-clock.ts';
import { countdown } from '../observe/countdown.ts';
import type { RunOptions } from '../options/run-options.ts';
import type { Clock, Person } from '../ports.ts';
import { personAtTerminal } from './person-at-terminal.ts';
import { stderr } from './terminal.ts';

export interface Attendance {
  readonly person: Person;
  readonly observers: readonly NamedObserver[];
}

export interface AttendanceParts {
  readonly clock: Clock;
  /** Present in a rehearsal. */
  readonly rehearsal:
    | { readonly clock: SkippingClock; readonly replies: readonly string[] }
    | undefined;
  readonly options: RunOptions;
  /** Whether the run waits for the deadline of a question. */
  readonly patient: boolean;
}

export function attendance({ clock, rehearsal, options, patient }: AttendanceParts): Attendance {
  const person = rehearsal
    ? rehearsedPerson(rehearsal.replies, rehearsal.clock)
    : personAtTerminal(options, () => waiting.look());
  const waiting = countdown(
    clock,
    (line) => stderr.line(line, options),
    () => patient && !person.isPresent(),
  );
  return { person, observers: options.json || options.quiet ? [] : [['The countdown', waiting]] };
}
