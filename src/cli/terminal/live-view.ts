/**
 * Draws the live view of a run at the bottom of a terminal. The number of frames depends on the time
 * and not on the number of events: everything between two frames is drawn together.
 */
import type { Doing } from '../../model/now.ts';
import type { Line } from '../../observe/describe.ts';
import { asksText } from '../../observe/words.ts';
import type { Clock, Observer, OpenQuestion } from '../../ports.ts';
import { questionFits, type Typing } from '../../view/question-rows.ts';
import { questionRoom, screenRows } from '../../view/screen-rows.ts';
import { seenEvent, type View, viewOf } from '../../view/view.ts';
import { onContinue } from './signals.ts';
import type { Screen } from './terminal.ts';

export interface LiveViewParts {
  readonly screen: Pick<
    Screen,
    'canRedraw' | 'draw' | 'forgetRows' | 'size' | 'onResize' | 'quote' | 'say'
  >;
  /** Paces the frames, so it must be a real clock. */
  readonly pace: Clock;
  /** The clock of the run, which may skip times. */
  readonly clock: Pick<Clock, 'now'>;
  /** The activity of the agents. */
  readonly doing: () => ReadonlyMap<string, Doing>;
  /** The last rows stay on the screen. */
  readonly keepsRows?: boolean;
}

export interface LiveView extends Required<Observer> {
  /** Shows a line of the report above the rows, with the next frame. */
  line(line: Line): void;
  /** Something else has changed: draws a frame soon. */
  change(): void;
  /** Shows the question that the user answers, and the typed text. */
  type(typing: Typing | undefined): void;
  /** Shows a question as a whole above the rows, if it is too long for them. */
  quoteLong(question: OpenQuestion): void;
}

export function liveView(parts: LiveViewParts): LiveView {
  const { screen, pace, clock, doing, keepsRows = false } = parts;
  let view: View | undefined;
  let typing: Typing | undefined;
  let lines: Line[] = [];
  let earliest = 0;
  let isClosed = false;
  let next: { readonly at: number; readonly cancel: () => void } | undefined;

  const schedule = (at: number) => {
    if (isClosed || (next && next.at <= at)) return;
    next?.cancel();
    next = { at, cancel: pace.at(at, () => frame(at)) };
  };
  const change = () => schedule(Math.max(earliest, pace.now() + SHORTEST_MS));
  const flush = (rows: ReturnType<typeof screenRows>, whole: boolean) => {
    const shown = lines;
    lines = [];
    screen.draw(shown, rows, whole);
  };
  let wholeAt = 0;
  const frame = (at: number) => {
    next = undefined;
    const began = pace.now();
    const isWhole = at >= wholeAt;
    if (isWhole) wholeAt = began + TICK_MS;
    flush(rows(), isWhole);
    earliest = pace.now() + Math.max(SHORTEST_MS, (pace.now() - began) * PAUSE_PER_DRAWING_TIME);
    if (view && view.run.status.kind !== 'ended') schedule(began + TICK_MS);
  };
  const rows = () => {
    if (!view || !screen.canRedraw()) return [];
    const { status, updatedAt } = view.run;
    if (status.kind === 'ended' && !keepsRows) return [];
    const { columns: width, rows: height } = screen.size();
    const now = status.kind === 'ended' ? updatedAt : clock.now();
    return screenRows(view, { width, height, now, doing: doing(), typing });
  };
  const endResize = screen.onResize(() => {
    wholeAt = 0;
    change();
  });
  const endContinue = onContinue(() => {
    screen.forgetRows();
    wholeAt = 0;
    change();
  });

  return {
    line(line) {
      lines.push(line);
      change();
    },
    event(event, _before, after) {
      view = seenEvent(view ?? viewOf(after), event, after);
      change();
    },
    live: change,
    change,
    type(shown) {
      typing = shown;
      // A key is shown immediately.
      schedule(pace.now());
    },
    quoteLong(asked) {
      const { columns, rows } = screen.size();
      if (questionFits(asked, columns, questionRoom(rows))) return;
      flush([], true);
      screen.say('', `${asked.agent} ${asksText(asked.request)}:`);
      screen.quote(asked.question);
    },
    close() {
      isClosed = true;
      next?.cancel();
      endResize();
      endContinue();
      typing = undefined;
      flush([], true);
      if (!keepsRows) return;
      screen.draw([], rows(), true);
      screen.forgetRows();
    },
  };
}

/** Ten frames per second. */
const SHORTEST_MS = 100;
/** Clocks on the screen show seconds. */
const TICK_MS = 1_000;
/** Drawing takes at most a twentieth of the time. */
const PAUSE_PER_DRAWING_TIME = 20;
