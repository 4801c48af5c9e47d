/**
 * A run as its page shows it: the whole at first, and then only what changes. The lines of its log come
 * beside it, in the words of `raymond logs`. An idle run sends nothing.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { changesBetween } from '../look/changes.ts';
import { counted } from '../model/counted.ts';
import { shellWord } from '../model/shell-word.ts';
import { type AlarmsOf, Describer } from '../observe/describe.ts';
import type { FollowedRun } from './followed-run.ts';
import type { LogLine, RunView } from './shapes/changes.ts';
import { Bell, type ServerEvent } from './sse.ts';

export interface ChangingRun {
  readonly id: string;
  readonly followed: FollowedRun;
  readonly alarmsOf: AlarmsOf;
  readonly now: () => number;
  /** Changes with everything about the run that is no event. */
  readonly key: () => Promise<string>;
  readonly parts: {
    readonly [K in keyof RunView]: () => Promise<RunView[K]>;
  };
}

export async function* runChanges(
  run: ChangingRun,
  signal: AbortSignal,
): AsyncGenerator<ServerEvent> {
  const { followed, now } = run;
  const bell = new Bell(signal);
  const endListening = followed.onChange(bell.ring);
  const log = new Log(run);
  let sent: Partial<RunView> = {};
  let forecastAt = 0;
  /** What each part was made from. */
  const made = { run: '', graph: '', forecast: '' };
  try {
    while (!signal.aborted) {
      const began = now();
      const lines = log.take();
      if (lines.length > 0) yield { event: 'lines', data: lines };
      const events = String(followed.run.seq);
      const key = `${events} ${await run.key()}`;
      for (const name of ['run', 'graph', 'forecast'] as const) {
        const from = name === 'run' ? key : events;
        if (from === made[name] || (name === 'forecast' && began < forecastAt)) continue;
        if (name === 'forecast') forecastAt = began + FORECAST_PAUSE_MS;
        made[name] = from;
        const next = { ...sent, [name]: await run.parts[name]() };
        const changes = changesBetween(sent, next);
        sent = next;
        if (changes.length > 0) yield { event: 'change', data: changes };
      }
      if (followed.trouble) throw followed.trouble.error;
      // Events come in groups, and a slow answer must not take all of the server's time.
      const pause = Math.min(MOST_PAUSE_MS, PATIENCE * (now() - began));
      await delay(Math.max(PAUSE_MS, pause), undefined, { signal }).catch(() => {});
      await bell.wait(LOOK_EVERY_MS);
    }
  } finally {
    endListening();
  }
}

const [PAUSE_MS, MOST_PAUSE_MS, PATIENCE] = [150, 2_000, 3];
/** Neither the end of a process nor an answer that was stored is an event, so they are looked for. */
const LOOK_EVERY_MS = 500;
/** A forecast changes little from step to step. */
const FORECAST_PAUSE_MS = 5_000;

/** The lines of the log that were not taken yet. */
class Log {
  readonly #run: ChangingRun;
  readonly #describer: Describer;
  #position = 0;

  constructor(run: ChangingRun) {
    this.#run = run;
    this.#describer = new Describer(run.alarmsOf);
  }

  /** A reader that is far behind gets the newest lines, and learns what is left out. */
  take(): readonly LogLine[] {
    const { id, followed } = this.#run;
    const from = Math.max(this.#position, followed.run.seq - MOST_LINES);
    const omitted = from - this.#position;
    const seen = followed.recentAfter(from) ?? [];
    this.#position = followed.run.seq;
    const lines = seen.flatMap(({ event, before, after }) => {
      const line = this.#describer.describe(event, before, after);
      return line ? [{ seq: event.seq, ...line }] : [];
    });
    const [first] = lines;
    if (!first || omitted === 0) return lines;
    const text = `${counted(omitted, 'event')} before this ${omitted === 1 ? 'is' : 'are'} not shown. To see all: raymond logs ${shellWord(id)}`;
    return [{ seq: from, at: first.at, who: 'run', tone: 'faint', text }, ...lines];
  }
}

const MOST_LINES = 300;
