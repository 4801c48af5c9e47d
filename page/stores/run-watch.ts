/**
 * Everything that the page knows about one run. The server folds the events; the page reads the folded
 * run again when events arrive. So a broken connection can neither lose nor double anything: the
 * stream continues after the last event, and the folded run is one answer.
 */

import type { RunGraph } from '../../src/draw/run-graph.ts';
import type { ErrorBody } from '../../src/look/common.ts';
import type { WholeRun } from '../../src/look/run-shape.ts';
import type { JournaledEvent } from '../../src/model/event.ts';
import type { Now } from '../../src/model/now.ts';
import type { RunForecast } from '../../src/serve/shapes/forecast.ts';
import { ApiTrouble, get, type Trouble, troubleFrom } from '../lib/api.ts';
import { type Connection, follow } from '../lib/follow.ts';
import type { ServerEvent } from '../lib/server-events.ts';
import { Store } from '../lib/store.ts';
import { Refresher } from './refresher.ts';
import { type SeenEvents, seenEvents, withBatch } from './seen-events.ts';

export class RunWatch {
  readonly run = new Store<WholeRun | undefined>(undefined);
  readonly graph = new Store<RunGraph | Trouble | undefined>(undefined);
  /** Undefined as long as it is not known. */
  readonly forecast = new Store<RunForecast | undefined>(undefined);
  readonly now = new Store<Now | undefined>(undefined);
  readonly events = new Store<SeenEvents<JournaledEvent>>(seenEvents(0));
  readonly connection = new Store<Connection>({ kind: 'connecting' });
  readonly trouble = new Store<Trouble | undefined>(undefined);
  readonly #path: string;
  readonly #runReader = new Refresher(() => this.#readRun());
  readonly #graphReader = new Refresher(() => this.#readGraph());
  readonly #forecastReader = new Refresher(() => this.#readForecast(), { pause: FORECAST_PAUSE });
  #isGraphShown: boolean;
  #unfollow: (() => void) | undefined;
  #isEnded = false;

  constructor(id: string, isGraphShown: boolean) {
    this.#path = `/api/runs/${encodeURIComponent(id)}`;
    this.#isGraphShown = isGraphShown;
    this.refresh();
    document.addEventListener('visibilitychange', this.#lookAtTab);
  }

  end(): void {
    this.#isEnded = true;
    document.removeEventListener('visibilitychange', this.#lookAtTab);
    this.#unfollow?.();
    this.#runReader.end();
    this.#graphReader.end();
    this.#forecastReader.end();
  }

  /** Reads the run again, for example after a command to it. */
  refresh(): void {
    this.#runReader.want();
    if (this.#isGraphShown) this.#graphReader.want();
  }

  /** The graph is only read while it is shown. */
  showGraph(isShown: boolean): void {
    const wasShown = this.#isGraphShown;
    this.#isGraphShown = isShown;
    if (isShown && !wasShown) this.#graphReader.want();
  }

  /** Ends a pause between two attempts to connect. */
  reconnect(): void {
    this.#unfollow?.();
    this.#unfollow = undefined;
    this.#runReader.want();
  }

  async #readRun(): Promise<void> {
    try {
      const run = await get<WholeRun>(this.#path);
      if (this.#isEnded) return;
      this.run.set(run);
      this.trouble.set(undefined);
      if (!this.#unfollow && !document.hidden) this.#follow(run.position);
      this.#forecastReader.want();
    } catch (error) {
      if (this.#isEnded) return;
      const isAway = error instanceof ApiTrouble && error.isAway;
      this.trouble.set(troubleFrom(error));
      // The stream reports that the way to the server is closed, and reads again when it is open.
      if (isAway && !this.#unfollow) this.#follow(this.events.value.position);
    }
  }

  async #readGraph(): Promise<void> {
    try {
      this.graph.set(await get<RunGraph>(`${this.#path}/graph`));
    } catch (error) {
      const isAway = error instanceof ApiTrouble && error.isAway;
      if (!isAway || this.graph.value === undefined) this.graph.set(troubleFrom(error));
    }
  }

  /** It is a bonus: without it, the page shows the rest. */
  async #readForecast(): Promise<void> {
    const forecast = await get<RunForecast>(`${this.#path}/forecast`).catch(() => undefined);
    if (!this.#isEnded && forecast) this.forecast.set(forecast);
  }

  /** The stream begins a little earlier than the folded run, so that the log has lines. */
  #follow(position: number): void {
    if (this.events.value.position === 0)
      this.events.set(seenEvents(Math.max(0, position - FIRST_LINES)));
    let wasLost = false;
    this.#unfollow = follow({
      address: () => `${this.#path}/events?after=${this.events.value.position}`,
      onEvent: (event) => this.#take(event),
      onConnection: (connection) => {
        if (connection.kind === 'lost' || connection.kind === 'signed-out') wasLost = true;
        if (connection.kind === 'open' && wasLost) this.refresh();
        // A new attempt is not good news yet.
        const isRetry = connection.kind === 'connecting' && wasLost;
        if (!isRetry) this.connection.set(connection);
        if (connection.kind === 'open') wasLost = false;
      },
    });
  }

  #take({ name, data }: ServerEvent): 'end' | undefined {
    switch (name) {
      case 'message':
        this.#takeBatch(JSON.parse(data));
        return undefined;
      case 'now':
        this.now.set(JSON.parse(data) ?? undefined);
        return undefined;
      case 'standing':
        this.#runReader.want();
        return undefined;
      case 'gone': {
        const { error }: ErrorBody = JSON.parse(data);
        this.connection.set({ kind: 'refused', trouble: error });
        return 'end';
      }
      default:
        return undefined;
    }
  }

  #takeBatch(batch: readonly JournaledEvent[]): void {
    const seen = withBatch(this.events.value, batch);
    // A gap cannot happen with this server. If it does, the log begins again after it.
    this.events.set(seen ?? { position: batch.at(-1)?.seq ?? 0, newest: [...batch] });
    if ((this.run.value?.position ?? 0) < this.events.value.position) this.refresh();
  }

  /** A hidden tab needs no stream, and a browser allows few of them. */
  readonly #lookAtTab = () => {
    if (document.hidden) {
      this.#unfollow?.();
      this.#unfollow = undefined;
    } else this.reconnect();
  };
}

const FIRST_LINES = 300;
/** In ms. A forecast changes little from step to step. */
const FORECAST_PAUSE = 5_000;
