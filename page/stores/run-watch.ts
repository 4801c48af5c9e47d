/**
 * Everything that the page knows about one run. The server sends it as one value, and then the changes
 * of it. After a broken connection it begins again with the whole value, so nothing is lost or doubled.
 */
import { type Change, changed } from '../../src/look/changes.ts';
import type { ErrorBody } from '../../src/look/common.ts';
import type { LogLine, RunView } from '../../src/serve/shapes/changes.ts';
import { type Connection, follow } from '../lib/follow.ts';
import type { ServerEvent } from '../lib/server-events.ts';
import { Store } from '../lib/store.ts';

export class RunWatch {
  // Each is undefined until the server has sent it.
  readonly run = new Store<RunView['run'] | undefined>(undefined);
  readonly graph = new Store<RunView['graph'] | undefined>(undefined);
  readonly forecast = new Store<RunView['forecast'] | undefined>(undefined);
  /** The newest lines of the log. */
  readonly lines = new Store<readonly LogLine[]>([]);
  readonly connection = new Store<Connection>({ kind: 'connecting' });
  readonly #path: string;
  #view: Partial<RunView> = {};
  #unfollow: (() => void) | undefined;

  constructor(id: string) {
    this.#path = `/api/runs/${encodeURIComponent(id)}/changes`;
    this.#lookAtTab();
    document.addEventListener('visibilitychange', this.#lookAtTab);
  }

  end(): void {
    document.removeEventListener('visibilitychange', this.#lookAtTab);
    this.#unfollow?.();
  }

  /** Ends a pause between two attempts to connect. */
  reconnect(): void {
    this.#unfollow?.();
    let wasLost = false;
    this.#unfollow = follow({
      address: () => `${this.#path}?after=${this.lines.value.at(-1)?.seq ?? 0}`,
      onEvent: (event) => this.#take(event),
      onConnection: (connection) => {
        if (connection.kind === 'lost' || connection.kind === 'signed-out') wasLost = true;
        // A new attempt is not good news yet.
        const isRetry = connection.kind === 'connecting' && wasLost;
        if (!isRetry) this.connection.set(connection);
        if (connection.kind !== 'open') return;
        this.#view = {};
        wasLost = false;
      },
    });
  }

  #take({ name, data }: ServerEvent): 'end' | undefined {
    switch (name) {
      case 'change':
        this.#change(JSON.parse(data));
        return undefined;
      case 'lines': {
        const lines: readonly LogLine[] = JSON.parse(data);
        this.lines.set([...this.lines.value, ...lines].slice(-MOST_LINES));
        return undefined;
      }
      case 'gone': {
        const { error }: ErrorBody = JSON.parse(data);
        this.connection.set({ kind: 'refused', trouble: error });
        return 'end';
      }
      default:
        return undefined;
    }
  }

  #change(changes: readonly Change[]): void {
    this.#view = changed(this.#view, changes) as Partial<RunView>;
    const { run, graph, forecast } = this.#view;
    if (run) this.run.set(run);
    if (graph) this.graph.set(graph);
    if (forecast) this.forecast.set(forecast);
  }

  /** A hidden tab needs no stream, and a browser allows few of them. */
  readonly #lookAtTab = () => {
    if (!document.hidden) return this.reconnect();
    this.#unfollow?.();
    this.#unfollow = undefined;
  };
}

const MOST_LINES = 400;
