/** The person at the terminal, who sees a run, answers its questions and stops it with Ctrl-C. */
import type { Attendant } from '../../host/attendant.ts';
import { openRun } from '../../host/open-run.ts';
import { conditionOf } from '../../model/condition.ts';
import { type Doing, doingByAgent } from '../../model/now.ts';
import { countdown } from '../../observe/countdown.ts';
import type { Line } from '../../observe/describe.ts';
import { DoingNow } from '../../observe/doing-now.ts';
import { jsonObserver } from '../../observe/json.ts';
import type { Clock, Person } from '../../ports.ts';
import type { Surroundings } from '../../world/surroundings.ts';
import { askInView, sayInView } from '../answer/ask-in-view.ts';
import { type AskOne, askInLines, personAtTerminal } from '../answer/person-at-terminal.ts';
import { Conversation } from './conversation.ts';
import { type LiveView, liveView } from './live-view.ts';
import { keptReports, observerFailed, type Reported, report } from './reporters.ts';
import { leaveOnSignals, stopOnSignals, stopOrLeaveOnSignals } from './signals.ts';
import { keyReader, type Screen, stderr, stdout } from './terminal.ts';

export interface AttendantParts extends Reported {
  readonly around: Surroundings;
  readonly clock: Clock;
  /** Plays the person of a rehearsal. */
  readonly rehearsed?: Person | undefined;
  /** Whether the run waits for the deadline of a question. */
  readonly patient?: boolean | undefined;
  /** The person only watches a run that another command has started, on standard output. */
  readonly isWatched?: boolean;
  /** Whether the person may answer and stop (default). */
  readonly mayAnswer?: boolean;
  /** The run was over when the person began to watch it. */
  readonly isOver?: boolean;
}

export function attendantAtTerminal(parts: AttendantParts): Attendant {
  const { clock, isLive, options, patient = true, isWatched = false, mayAnswer = true } = parts;
  const screen = isWatched ? stdout : stderr;
  const { view, doing } = viewOn(screen, parts);
  const show = view?.line ?? ((line: Line) => screen.line(line, options));
  const ask = view ? whenFree(view) : askInLines;
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
    stops(act) {
      const bySignals = isWatched ? leaveOnSignals : isLive ? stopOnSignals : stopOrLeaveOnSignals;
      const ends = [bySignals(act), view?.onStop(act, mayAnswer)];
      return () => {
        for (const end of ends) end?.();
      };
    },
    warn: (text) => show({ at: clock.now(), who: 'run', tone: 'warning', text }),
    alert: stderr,
    doing,
  };
}

/** A question opens by itself, unless the person is looking at an agent. */
function whenFree(view: LiveView): AskOne {
  const ask = askInView(view);
  return (asked, said) => view.offer(() => ask(asked, said));
}

/** The live view, if the terminal and the options allow it, and its source of news about work elsewhere. */
function viewOn(
  screen: Screen,
  { id, around, clock, isLive, options, isWatched = false, isOver = false }: AttendantParts,
): { readonly view: LiveView | undefined; readonly doing: NonNullable<Attendant['doing']> } {
  if (options.plain || options.json || options.quiet || !screen.canRedraw())
    return { view: undefined, doing: () => {} };
  const now = new DoingNow();
  let elsewhere: ReadonlyMap<string, Doing> = new Map();
  const view: LiveView = liveView({
    ...{ screen, pace: around.clock, clock, isWatched, isOver, keys: keyReader },
    isLost: async () =>
      isWatched && conditionOf(await openRun(around.store, id)).kind === 'crashed',
    say: (agent, over) => sayInView(view, around, id, agent, over),
    converse: (agent, run, change) => new Conversation({ around, agent, run, change }),
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
