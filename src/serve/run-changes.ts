/**
 * What a page shows: all runs, and maybe one of them with its graph, its forecast and its log in the words
 * of `raymond logs`. A client gets the whole at first, and then only what changes.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { changesBetween } from '../look/changes.ts';
import { counted } from '../model/counted.ts';
import { shellWord } from '../model/shell-word.ts';
import { UserError } from '../model/user-error.ts';
import { type AlarmsOf, Describer } from '../observe/describe.ts';
import type { FollowedRun } from './followed-run.ts';
import type { Overview } from './overview.ts';
import { errorBodyOf } from './problems.ts';
import type { Projects } from './projects.ts';
import type { LogLine, OverviewShape, RunView } from './shapes/changes.ts';
import { Bell, ringWith, type ServerEvent } from './sse.ts';

export interface Shown {
  readonly overview: Pick<Overview, 'view' | 'trouble' | 'onChange'>;
  readonly projects: Pick<Projects, 'view' | 'onChange'>;
  /** Throws a UserError if the run cannot be read. */
  readonly find: (() => Promise<ChangingRun>) | undefined;
  readonly now: () => number;
}

export interface ChangingRun {
  readonly id: string;
  readonly followed: FollowedRun;
  readonly alarmsOf: AlarmsOf;
  /** Changes with everything about the run that is no event. */
  readonly key: () => Promise<string>;
  /** When to look at the key again. */
  readonly news: (signal: AbortSignal) => AsyncIterable<void>;
  readonly parts: {
    readonly [K in keyof RunView]: () => Promise<RunView[K]>;
  };
}

export async function* changes(
  { overview, projects, find, now }: Shown,
  signal: AbortSignal,
): AsyncGenerator<ServerEvent> {
  const bell = new Bell(signal);
  const endings = [overview.onChange(bell.ring), projects.onChange(bell.ring)];
  let sent: Partial<OverviewShape & RunView> = {};
  const changed = function* (next: typeof sent) {
    const data = changesBetween(sent, next);
    sent = next;
    if (data.length > 0) yield { event: 'change', data };
  };
  let trouble: Overview['trouble'];
  let run: ChangingRun | undefined;
  let forecastAt = 0;
  /** What each part was made from. */
  const made = { run: '', graph: '', forecast: '' };
  try {
    const finding = find?.();
    const found = finding?.catch(() => {});
    // To find a run can take a while, and its page begins with its row in the list.
    if (finding && !overview.view.runs) await Promise.race([bell.wait(), found]);
    yield* changed(overview.view);
    try {
      run = await finding;
    } catch (error) {
      yield about('gone', error);
    }
    if (run) {
      endings.push(run.followed.onChange(bell.ring));
      void ringWith(run.news(signal), bell.ring);
    }
    const log = run && new Log(run);
    while (!signal.aborted) {
      const began = now();
      if (overview.trouble && overview.trouble !== trouble)
        yield about('trouble', overview.trouble.error);
      // This ends the trouble, even if nothing has changed.
      else if (trouble && !overview.trouble) yield { event: 'change', data: [] };
      trouble = overview.trouble;
      yield* changed({ ...sent, ...overview.view, ...projects.view });
      const lines = log?.take() ?? [];
      if (lines.length > 0) yield { event: 'lines', data: lines };
      if (run) {
        const events = String(run.followed.run.seq);
        const key = `${events} ${await run.key()}`;
        for (const name of ['run', 'graph', 'forecast'] as const) {
          const from = name === 'run' ? key : events;
          if (from === made[name] || (name === 'forecast' && began < forecastAt)) continue;
          if (name === 'forecast') forecastAt = began + FORECAST_PAUSE_MS;
          made[name] = from;
          yield* changed({ ...sent, [name]: await run.parts[name]() });
        }
      }
      if (run?.followed.trouble) {
        yield about('gone', run.followed.trouble.error);
        run = undefined;
      }
      // Events come in groups, and a slow answer must not take all of the server's time.
      const pause = Math.min(MOST_PAUSE_MS, PATIENCE * (now() - began));
      await delay(Math.max(PAUSE_MS, pause), undefined, { signal }).catch(() => {});
      await bell.wait();
    }
  } finally {
    for (const end of endings) end();
  }
}

function about(event: string, error: unknown): ServerEvent {
  if (error instanceof UserError) return { event, data: errorBodyOf(error) };
  throw error;
}

const [PAUSE_MS, MOST_PAUSE_MS, PATIENCE] = [150, 2_000, 3];
/** A forecast changes little from step to step. */
const FORECAST_PAUSE_MS = 5_000;

/** The lines of the log that were not taken yet. */
class Log {
  readonly #run: ChangingRun;
  readonly #describer: Describer;
  #position = 0;

  constructor(run: ChangingRun) {
    this.#run = run;
    this.#describer = new Describer(run.alarmsOf, false);
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
      return line ? [{ seq: event.seq, type: event.type, ...line }] : [];
    });
    const [first] = lines;
    if (!first || omitted === 0) return lines;
    const text = `${counted(omitted, 'event')} before this ${omitted === 1 ? 'is' : 'are'} not shown. To see all: raymond logs ${shellWord(id)}`;
    return [
      { seq: from, at: first.at, who: 'run', tone: 'faint', type: 'omitted', text },
      ...lines,
    ];
  }
}

const MOST_LINES = 300;
