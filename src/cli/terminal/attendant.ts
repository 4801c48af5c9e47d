/** The person at the terminal, who sees a run, answers its questions and stops it with Ctrl-C. */
import type { Attendant } from '../../host/attendant.ts';
import { type Doing, doingByAgent } from '../../model/now.ts';
import { countdown } from '../../observe/countdown.ts';
import type { Line } from '../../observe/describe.ts';
import { DoingNow } from '../../observe/doing-now.ts';
import { jsonObserver } from '../../observe/json.ts';
import type { Clock, Person } from '../../ports.ts';
import type { Surroundings } from '../../world/surroundings.ts';
import { askInView } from '../answer/ask-in-view.ts';
import { askInLines, personAtTerminal } from '../answer/person-at-terminal.ts';
import { type LiveView, liveView } from './live-view.ts';
import { keptReports, observerFailed, type Reported, report } from './reporters.ts';
import { leaveOnSignals, stopOnSignals, stopOrLeaveOnSignals } from './signals.ts';
import { type Screen, stderr, stdout } from './terminal.ts';

export interface AttendantParts extends Reported {
  readonly around: Surroundings;
  readonly clock: Clock;
  /** Plays the person of a rehearsal. */
  readonly rehearsed?: Person | undefined;
  /** Whether the run waits for the deadline of a question. */
  readonly patient?: boolean | undefined;
  /** The person only watches a run that another command has started, on standard output. */
  readonly isWatched?: boolean;
  /** Whether the person may answer (default). */
  readonly mayAnswer?: boolean;
}

export function attendantAtTerminal(parts: AttendantParts): Attendant {
  const { clock, isLive, options, patient = true, isWatched = false, mayAnswer = true } = parts;
  const screen = isWatched ? stdout : stderr;
  const { view, doing } = viewOn(screen, parts);
  const show = view?.line ?? ((line: Line) => screen.line(line, options));
  const ask = view ? askInView(view) : askInLines;
  const person =
    parts.rehearsed ??
    personAtTerminal(mayAnswer && !options.json, ask, () => isLive && waiting.look());
  const waiting = countdown(clock, show, () => patient && !person.isPresent());
  const counts = isLive && !options.json && !options.quiet && !view;
  return {
    observers: [
      [
        'The report',
        options.json ? jsonObserver(stdout.json) : report(show, view !== undefined, parts),
      ],
      ...(view ? [['The view', view] as const] : []),
      ...keptReports(parts),
      ...(counts ? [['The countdown', waiting] as const] : []),
    ],
    observerFailed,
    person,
    stops: isWatched ? leaveOnSignals : isLive ? stopOnSignals : stopOrLeaveOnSignals,
    warn: (text) => show({ at: clock.now(), who: 'run', tone: 'warning', text }),
    alert: stderr,
    doing,
  };
}

/** The live view, if the terminal and the options allow it, and its source of news about work elsewhere. */
function viewOn(
  screen: Screen,
  { around, clock, isLive, options, isWatched = false }: AttendantParts,
): { readonly view: LiveView | undefined; readonly doing: NonNullable<Attendant['doing']> } {
  if (options.plain || options.json || options.quiet || !screen.canRedraw())
    return { view: undefined, doing: () => {} };
  const now = new DoingNow();
  let elsewhere: ReadonlyMap<string, Doing> = new Map();
  const view = liveView({
    ...{ screen, pace: around.clock, clock, keepsRows: isWatched },
    doing: () => (isLive ? doingByAgent(now.snapshot(clock.now())) : elsewhere),
  });
  return {
    view: {
      ...view,
      event(event, before, after) {
        if (isLive) now.event(event);
        view.event(event, before, after);
      },
      live(step, live) {
        if (now.live(step, live, clock.now())) view.change();
      },
    },
    doing(newer) {
      elsewhere = newer;
      view.change();
    },
  };
}
