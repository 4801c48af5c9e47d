/**
 * Draws the live view of a run at the bottom of a terminal. The number of frames depends on the time
 * and not on the number of events: everything between two frames is drawn together.
 */
import type { StopOrLeave } from '../../host/attendant.ts';
import type { Doing } from '../../model/now.ts';
import type { Run } from '../../model/run.ts';
import type { Row } from '../../observe/block.ts';
import type { Line } from '../../observe/describe.ts';
import { asksText } from '../../observe/words.ts';
import type { Clock, Observer, OpenQuestion } from '../../ports.ts';
import { type Act, type Controls, NO_CONTROLS, pressed } from '../../view/controls.ts';
import { type Key, keysIn } from '../../view/keys.ts';
import { questionFits, type Typing } from '../../view/question-rows.ts';
import { questionRoom, screenRows } from '../../view/screen-rows.ts';
import { seenEvent, type View, viewOf } from '../../view/view.ts';
import type { AskedOne } from '../answer/person-at-terminal.ts';
import type { Conversation } from './conversation.ts';
import { ConversationPage } from './conversation-page.ts';
import { interruptOurselves, onContinue, onSignals, onSuspend, signalOurJob } from './signals.ts';
import type { KeyReader, Screen } from './terminal.ts';

export interface LiveViewParts {
  readonly screen: Pick<
    Screen,
    | 'canRedraw'
    | 'draw'
    | 'forgetRows'
    | 'size'
    | 'onResize'
    | 'quote'
    | 'say'
    | 'wrapped'
    | 'showPage'
  >;
  /** Paces the frames, so it must be a real clock. */
  readonly pace: Clock;
  /** The clock of the run, which may skip times. */
  readonly clock: Pick<Clock, 'now'>;
  /** The activity of the agents. */
  readonly doing: () => ReadonlyMap<string, Doing>;
  /** The user watches a run of another process: the last rows stay on the screen. */
  readonly isWatched?: boolean;
  /** The run was over when the view began. The view stays until the user leaves. */
  readonly isOver?: boolean;
  /** Whether the process that worked on the run has ended without finishing it. */
  readonly isLost?: () => Promise<boolean>;
  /** The keys of the user, if there is one. */
  readonly keys?: (onPiece: (piece: string) => void) => KeyReader | undefined;
  /** Lets the user write to an agent. `over` is called when they have finished. */
  readonly say?: (agent: string, over: () => void) => AskedOne;
  /** Opens the conversation of an agent. */
  readonly converse?: (agent: string, run: () => Run, change: () => void) => Conversation;
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
  /** Puts a question to the user, or waits for a key if the user is doing something else. */
  offer(ask: () => AskedOne): AskedOne;
  /** Passes on what the user wants for the run. Returns a function that ends this. */
  onStop(act: (how: StopOrLeave) => void, mayStop: boolean): () => void;
}

export function liveView(parts: LiveViewParts): LiveView {
  const { screen, pace, clock, doing, isWatched = false, isOver = false } = parts;
  let view: View | undefined;
  let typing: Typing | undefined;
  let controls: Controls = NO_CONTROLS;
  let page: ConversationPage | undefined;
  let question: { readonly ask: () => AskedOne; asked: AskedOne | undefined } | undefined;
  let saying: AskedOne | undefined;
  let stop: { readonly act: (how: StopOrLeave) => void; readonly mayStop: boolean } | undefined;
  let order: readonly string[] = [];
  let lines: Line[] = [];
  let earliest = 0;
  let isClosed = false;
  let isHurried = false;
  let isLost = false;
  /** Ends the wait of a view whose run is over. */
  let leave: (() => void) | undefined;
  let next: { readonly at: number; readonly cancel: () => void } | undefined;

  const schedule = (at: number) => {
    if (isClosed || (next && next.at <= at)) return;
    next?.cancel();
    next = { at, cancel: pace.at(at, () => frame(at)) };
  };
  const change = () => schedule(Math.max(earliest, pace.now() + SHORTEST_MS));
  /** A key is shown immediately. */
  const show = () => schedule(pace.now());
  const flush = (rows: readonly Row[], whole: boolean) => {
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
    if (!areKeysTaken && screen.canRedraw()) takeKeys();
    const now = momentOf();
    if (page && view && screen.canRedraw())
      screen.showPage(
        page.rows(view, { now, doing: doing(), isLost, asks: question !== undefined }),
      );
    else flush(rows(now), isWhole);
    earliest = pace.now() + Math.max(SHORTEST_MS, (pace.now() - began) * PAUSE_PER_DRAWING_TIME);
    if (view && view.run.status.kind !== 'ended') schedule(began + TICK_MS);
  };
  const momentOf = () =>
    view && (isLost || view.run.status.kind === 'ended') ? view.run.updatedAt : clock.now();
  const rows = (now: number) => {
    if (!view || !screen.canRedraw()) return [];
    if (view.run.status.kind === 'ended' && !isWatched && !leave) return [];
    const { columns: width, rows: height } = screen.size();
    const hints = [
      ...(question && !question.asked ? ['a answer'] : []),
      ...(leave ? ['q leave'] : []),
      '? keys',
    ];
    const shown = screenRows(view, {
      ...{ width, height, now, doing: doing(), typing, isWatched, isLost, ...controls },
      hint: { text: keys && !isClosed ? hints.join(' · ') : '', isNeeded: hints.length > 1 },
    });
    order = shown.order;
    return shown.rows;
  };

  const press = (key: Key) => {
    if (page) {
      pressOnPage(page, key);
      return;
    }
    if (typing) {
      // A person who types has the keys. Without text, some of them lead back to the agents.
      if (typing.before !== '' || typing.after !== '') return;
      if (key !== 'escape' && key !== 'up' && key !== 'down') return;
      saying?.close();
      saying = undefined;
      question?.asked?.close();
      if (question) question.asked = undefined;
    }
    const isEnded = view?.run.status.kind === 'ended';
    const done = pressed(controls, key, {
      order,
      mayLeave: isWatched || leave !== undefined,
      mayStop: stop?.mayStop === true && !isEnded,
      hasQuestion: question !== undefined,
    });
    controls = done.controls;
    if (done.act) act(done.act);
    show();
  };
  const pressOnPage = (open: ConversationPage, key: Key) => {
    const isLetter = (letter: string) => typeof key === 'object' && key.letter === letter;
    if (key === 'escape' || isLetter('q') || (isLetter('a') && question)) closePage();
    if (isLetter('a') && question) act('answer');
    else if (key === 'ctrl-c') act('interrupt');
    else if (key === 'ctrl-z') act('suspend');
    else if (key === 'ctrl-backslash') act('quit');
    // The next frame opens it again, on an empty screen.
    else if (key === 'ctrl-l') screen.showPage(undefined);
    else open.press(key);
    show();
  };
  const act = (wanted: Act) => {
    switch (wanted) {
      case 'open':
        openPage();
        return;
      case 'answer':
        controls = NO_CONTROLS;
        // The listeners of the next question must not see this key.
        setImmediate(ask);
        return;
      case 'say':
        setImmediate(say);
        return;
      case 'drain':
      case 'now':
        stop?.act(wanted);
        return;
      case 'leave':
        if (leave) leave();
        else stop?.act('leave');
        return;
      case 'interrupt':
        if (leave) leave();
        else interruptOurselves();
        return;
      case 'suspend':
        signalOurJob('SIGTSTP');
        return;
      case 'quit':
        releaseKeys();
        signalOurJob('SIGQUIT');
        return;
      case 'redraw':
        wholeAt = 0;
    }
  };
  const openPage = () => {
    const { chosen } = controls;
    if (!view || chosen === undefined || !parts.converse) return;
    const { run } = view;
    const conversation = parts.converse(chosen, () => view?.run ?? run, change);
    page = new ConversationPage(conversation, screen);
  };
  const closePage = () => {
    if (!page) return;
    page.close();
    page = undefined;
    screen.showPage(undefined);
    wholeAt = 0;
    // The run has ended while the user was reading.
    if (!isOver) leave?.();
  };
  const say = () => {
    const { chosen } = controls;
    if (chosen === undefined || saying || typing || isClosed) return;
    saying = parts.say?.(chosen, () => {
      saying = undefined;
      ask();
    });
    show();
  };
  const ask = () => {
    if (question && !question.asked && !saying && !isClosed) question.asked = question.ask();
    show();
  };

  const keys = parts.keys?.((piece) => {
    for (const key of keysIn(piece)) press(key);
  });
  let areKeysTaken = false;
  const takeKeys = () => {
    if (isClosed || !keys) return;
    areKeysTaken = true;
    keys.take();
  };
  const releaseKeys = () => {
    areKeysTaken = false;
    keys?.release();
    screen.showPage(undefined);
  };
  takeKeys();
  const ends = [
    screen.onResize(() => {
      wholeAt = 0;
      change();
    }),
    onContinue(() => {
      screen.forgetRows();
      wholeAt = 0;
      if (screen.canRedraw()) takeKeys();
      change();
    }),
    onSuspend(() => {
      releaseKeys();
      // The first frame after it may come before the signal to continue.
      screen.forgetRows();
    }),
    // Whoever ends the process sees what happens, and does not wait for a reader.
    onSignals(() => {
      isHurried = true;
      closePage();
      leave?.();
    }),
  ];

  return {
    line(line) {
      lines.push(line);
      change();
    },
    event(event, _before, after) {
      view = seenEvent(view ?? viewOf(after), event, after);
      page?.event();
      change();
    },
    live: change,
    change,
    type(shown) {
      typing = shown;
      // What reads an answer gives the keys back.
      if (!shown) takeKeys();
      show();
    },
    quoteLong(asked) {
      const { columns, rows } = screen.size();
      if (questionFits(asked, columns, questionRoom(rows))) return;
      flush([], true);
      screen.say('', `${asked.agent} ${asksText(asked.request)}:`);
      screen.quote(asked.question);
    },
    offer(put) {
      const offered = { ask: put, asked: undefined as AskedOne | undefined };
      question = offered;
      if (!page && controls === NO_CONTROLS) ask();
      else change();
      return {
        close() {
          if (question === offered) question = undefined;
          offered.asked?.close();
          change();
        },
      };
    },
    onStop(act, mayStop) {
      stop = { act, mayStop };
      return () => {
        stop = undefined;
      };
    },
    async close() {
      saying?.close();
      typing = undefined;
      if (parts.isLost) isLost = await parts.isLost().catch(() => false);
      if (keys && !isHurried && screen.canRedraw() && (page || (isOver && isWatched))) {
        const left = new Promise<void>((resolve) => {
          leave = resolve;
        });
        show();
        await left;
      }
      isClosed = true;
      page?.close();
      page = undefined;
      screen.showPage(undefined);
      next?.cancel();
      for (const end of ends) end();
      keys?.close();
      flush([], true);
      if (!isWatched) return;
      leave = undefined;
      controls = NO_CONTROLS;
      screen.draw([], rows(momentOf()), true);
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
