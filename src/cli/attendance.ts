/** The person who may answer the questions of a run, and the countdown while the run waits. */
import type { NamedObserver } from '../host/observe-all.ts';
import { rehearsedPerson } from '../host/rehearsed-person.ts';
import type { SkippingClock } from '../host/skipping-clock.ts';
import { countdown } from '../observe/countdown.ts';
import type { RunOptions } from '../options/run-options.ts';
import type { Clock, Person } from '../ports.ts';
import { askInView } from './ask-in-view.ts';
import type { LiveView } from './live-view.ts';
import { askInLines, personAtTerminal } from './person-at-terminal.ts';
import { reportLine } from './reporters.ts';

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
  /** Present if the terminal shows it. It shows the questions, and how long the run waits. */
  readonly view: LiveView | undefined;
}

export function attendance(parts: AttendanceParts): Attendance {
  const { clock, rehearsal, options, patient, view } = parts;
  const ask = view ? askInView(view) : askInLines;
  const person = rehearsal
    ? rehearsedPerson(rehearsal.replies, rehearsal.clock)
    : personAtTerminal(!options.json, ask, () => waiting.look());
  const waiting = countdown(clock, reportLine(options, view), () => patient && !person.isPresent());
  const counts = !options.json && !options.quiet && !view;
  return { person, observers: counts ? [['The countdown', waiting]] : [] };
}
