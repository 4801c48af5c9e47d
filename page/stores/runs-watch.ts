/**
 * The runs of the project, what waits for a person, and the run that the page shows. One stream has it
 * all, because a browser allows few of them. The server sends the whole, and then the changes of it.
 * After a broken connection it begins again, so nothing is lost or doubled.
 */
import { type Change, changed } from '../../src/look/changes.ts';
import type { ErrorBody } from '../../src/look/common.ts';
import type { RunRow } from '../../src/look/run-shape.ts';
import type { OverviewShape, ProjectRow, RunView } from '../../src/serve/shapes/changes.ts';
import type { QuestionList } from '../../src/serve/shapes/questions.ts';
import { type Trouble, UNREACHABLE } from '../lib/api.ts';
import { type Connection, follow } from '../lib/follow.ts';
import type { ServerEvent } from '../lib/server-events.ts';
import { Store } from '../lib/store.ts';
import type { RunWatch } from './run-watch.ts';

export class RunsWatch {
  readonly project = new Store<OverviewShape['project'] | undefined>(undefined);
  /** The newest first, and those that cannot be read last. */
  readonly runs = new Store<readonly RunRow[] | undefined>(undefined);
  /** What waits for a person, the oldest first. */
  readonly wants = new Store<readonly Want[]>([]);
  /** All projects of the user; undefined until they were counted. */
  readonly projects = new Store<readonly ProjectRow[] | undefined>(undefined);
  readonly trouble = new Store<Trouble | undefined>(undefined);
  /** The way to the server, for all that the page shows. */
  readonly connection = new Store<Connection>({ kind: 'connecting' });
  #shown: RunWatch | undefined;
  #view: Partial<OverviewShape & RunView> = {};
  #unfollow: (() => void) | undefined;

  start(): void {
    // The page of a run has begun it.
    if (!this.#unfollow) this.#lookAtTab();
    document.addEventListener('visibilitychange', this.#lookAtTab);
  }

  /** Begins to follow a run. Gives the function that ends it. */
  show(run: RunWatch): () => void {
    this.#shown = run;
    this.#lookAtTab();
    const end = () => {
      if (this.#shown !== run) return;
      this.#shown = undefined;
      this.#lookAtTab();
    };
    // The page of the next run begins in the same turn.
    return () => queueMicrotask(end);
  }

  /** Ends a pause between two attempts to connect. */
  reconnect(): void {
    this.#follow(this.#shown);
  }

  #follow(run: RunWatch | undefined): void {
    this.#unfollow?.();
    const address = `/api/changes${run ? `?run=${encodeURIComponent(run.id)}` : ''}`;
    let wasLost = false;
    this.#unfollow = follow({
      address: () => address,
      onEvent: (event) => this.#take(event),
      onConnection: (connection) => {
        if (connection.kind === 'lost' || connection.kind === 'signed-out') wasLost = true;
        // A new attempt is not good news yet.
        if (connection.kind === 'connecting' && wasLost) return;
        this.connection.set(connection);
        run?.connected(connection);
        this.trouble.set(troubleOf(connection));
        if (connection.kind !== 'open') return;
        this.#view = {};
        wasLost = false;
      },
    });
  }

  #take({ name, data }: ServerEvent): undefined {
    if (name === 'change') {
      const before = this.#view;
      this.#view = changed(before, JSON.parse(data) as readonly Change[]) as typeof before;
      this.trouble.set(undefined);
      this.#set(this.#view);
      this.#shown?.change(this.#view);
    }
    if (name === 'lines') this.#shown?.addLines(JSON.parse(data));
    if (name !== 'trouble' && name !== 'gone') return;
    const { error }: ErrorBody = JSON.parse(data);
    if (name === 'trouble') this.trouble.set(error);
    else this.#shown?.connected({ kind: 'refused', trouble: error });
  }

  #set({ project, runs, questions, permissions, projects }: Partial<OverviewShape>): void {
    if (projects && projects !== this.#last?.projects) this.projects.set(Object.values(projects));
    if (!project || !runs || !questions || !permissions) return;
    this.project.set(project);
    // Before the runs: who sees the runs for the first time knows what has waited until now.
    if (questions !== this.#last?.questions || permissions !== this.#last?.permissions)
      this.wants.set(wantsIn({ questions, permissions }));
    if (runs !== this.#last?.runs) this.runs.set(listed(runs));
    this.#last = { project, runs, questions, permissions, projects };
  }

  #last: OverviewShape | undefined;

  /** A hidden tab shows no run, but one of them has to notice what waits for a person. */
  readonly #lookAtTab = () => {
    this.#hidden?.abort();
    if (!document.hidden) return this.reconnect();
    this.#unfollow?.();
    this.#unfollow = undefined;
    this.#hidden = new AbortController();
    void this.#watchHidden(this.#hidden.signal);
  };

  #hidden: AbortController | undefined;

  /** A browser allows few streams, so hidden tabs share one: the first of them has the lock. */
  async #watchHidden(signal: AbortSignal): Promise<void> {
    const watch = () =>
      new Promise<void>((resolve) => {
        if (signal.aborted) return resolve();
        this.#follow(undefined);
        signal.addEventListener('abort', () => resolve());
      });
    await navigator.locks?.request('raymond-hidden', { signal }, watch).catch(() => {});
  }
}

function troubleOf(connection: Connection): Trouble | undefined {
  if (connection.kind === 'lost') return UNREACHABLE;
  return 'trouble' in connection ? connection.trouble : undefined;
}

const startOf = (run: RunRow) => (run.status === 'damaged' ? '' : run.started_at);
/** A change of a run changes its place in the value, but not in the list. */
export const listed = (runs: OverviewShape['runs']) => Object.values(runs).sort(byStart);

const byStart = (a: RunRow, b: RunRow) => {
  const [first, second] = [startOf(a), startOf(b)];
  if (first !== second) return first < second ? 1 : -1;
  return a.id < b.id ? -1 : 1;
};

export type Want =
  | QuestionList['questions'][number]
  | ({ readonly kind: 'permission' } & QuestionList['permissions'][number]);

function wantsIn({ questions, permissions }: QuestionList): readonly Want[] {
  const asked = permissions.map((one) => ({ kind: 'permission' as const, ...one }));
  return [...questions, ...asked].sort((a, b) => (a.asked_at < b.asked_at ? -1 : 1));
}
