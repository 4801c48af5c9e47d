/** Everything that the page knows about the run that it shows. The stream of all runs has it. */
import type { LogLine, RunView } from '../../src/serve/shapes/changes.ts';
import type { Connection } from '../lib/follow.ts';
import { Store } from '../lib/store.ts';
import type { RunsWatch } from './runs-watch.ts';

export class RunWatch {
  // Each is undefined until the server has sent it.
  readonly run = new Store<RunView['run'] | undefined>(undefined);
  readonly graph = new Store<RunView['graph'] | undefined>(undefined);
  readonly forecast = new Store<RunView['forecast'] | undefined>(undefined);
  /** The newest lines of the log. */
  readonly lines = new Store<readonly LogLine[]>([]);
  readonly connection = new Store<Connection>({ kind: 'connecting' });
  readonly id: string;
  readonly end: () => void;
  readonly #all: RunsWatch;
  #isBegun = false;

  constructor(id: string, all: RunsWatch) {
    this.id = id;
    this.#all = all;
    this.end = all.show(this);
  }

  reconnect(): void {
    this.#all.reconnect();
  }

  connected(connection: Connection): void {
    this.connection.set(connection);
    // Each stream begins with the newest lines.
    if (connection.kind === 'open') this.#isBegun = false;
  }

  addLines(lines: readonly LogLine[]): void {
    this.lines.set([...(this.#isBegun ? this.lines.value : []), ...lines].slice(-MOST_LINES));
    this.#isBegun = true;
  }

  change({ run, graph, forecast }: Partial<RunView>): void {
    if (run) this.run.set(run);
    if (graph) this.graph.set(graph);
    if (forecast) this.forecast.set(forecast);
  }
}

const MOST_LINES = 400;
