/** Shows a run of another process in the live view, and delivers the answers of the user. */
import { askPerson, requestOf } from '../host/ask-person.ts';
import type { JournaledEvent } from '../model/event.ts';
import type { PermissionDecided } from '../model/input.ts';
import type { Doing } from '../model/now.ts';
import type { PermissionDecision } from '../model/permission.ts';
import type { Run } from '../model/run.ts';
import { shellWord } from '../model/shell-word.ts';
import { UserError } from '../model/user-error.ts';
import type { Line } from '../observe/describe.ts';
import { retelling } from '../observe/retell.ts';
import type { Observer, StoredRun } from '../ports.ts';
import { agent } from './agent.ts';
import { askInView } from './ask-in-view.ts';
import { followRun } from './follow-run.ts';
import { giveAnswer } from './give-answer.ts';
import { giveDecision } from './give-decision.ts';
import { liveView } from './live-view.ts';
import { NO_WORKER, reportMissingWorkers } from './missing-workers.ts';
import { openItems } from './open-items.ts';
import { personAtTerminal } from './person-at-terminal.ts';
import { openRun, statusOf } from './runs.ts';
import { onSignals } from './signals.ts';
import type { Surroundings } from './surroundings.ts';
import { stdout } from './terminal.ts';
import { userName } from './user-name.ts';
import { watchDoing } from './watch-doing.ts';

/** Returns when the run has ended, when its process no longer exists, or when the user leaves. */
export async function watchInView(around: Surroundings, id: string): Promise<number> {
  const { store, clock } = around;
  const { run, owner } = await openRun(store, id);
  let doing: ReadonlyMap<string, Doing> = new Map();
  const view = liveView({
    screen: stdout,
    pace: clock,
    clock,
    doing: () => doing,
    keepsRows: true,
  });
  const leaving = new AbortController();
  const endSignals = onSignals(() => leaving.abort());
  const isThere = owner !== undefined && !(await around.processes(id)).includeThisProcess();
  const person = personAtTerminal(isThere, askInView(view), () => {});
  const { signal } = leaving;
  const looking = [
    watchDoing(store, id, signal, (newer) => {
      doing = newer;
      view.change();
    }),
    reportMissingWorkers(store, id, signal, (isMissing) => {
      if (isMissing) view.line({ at: clock.now(), who: 'run', tone: 'warning', text: NO_WORKER });
    }),
  ];
  const history = new History(run.seq, view.line, id);
  let asking: Observer | undefined;
  let found: StoredRun;
  try {
    found = await followRun(store, id, watchEvent, signal);
  } finally {
    person.close();
    history.flush();
    leaving.abort();
    endSignals();
    await Promise.all(looking);
    view.close();
  }
  for (const line of lastWords(found)) stdout.offer(line);
  return 0;

  async function watchEvent(event: JournaledEvent, before: Run, after: Run): Promise<void> {
    history.add(event, before, after);
    view.event(event, before, after);
    asking?.event(event, before, after);
    // Earlier questions may be settled.
    if (!asking && event.seq >= run.seq) asking = await askOpen(after);
  }

  async function askOpen(now: Run): Promise<Observer> {
    const open = (await openItems(store, now)).filter(({ isAnswered }) => !isAnswered);
    const asked = open.map((item) =>
      item.kind === 'request'
        ? requestOf(item.agent, item.step, item)
        : { ...item, id: item.agent },
    );
    return askPerson(
      person,
      asked,
      (input) => {
        if (input.kind === 'person-answered')
          void reporting(input, giveAnswer(store, id, input, input.text));
        if (input.kind === 'permission-decided')
          void reporting(input, giveDecision(store, id, input, decisionIn(input), userName()));
      },
      clock,
    );
  }

  /** An answer that was not used is reported in the view. */
  async function reporting(
    { at, agent: who }: { readonly at: number; readonly agent: string },
    giving: Promise<void>,
  ): Promise<void> {
    try {
      await giving;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      view.line({ at, who, tone: 'warning', text: error.message });
    }
  }
}

const decisionIn = ({ decision, text }: PermissionDecided): PermissionDecision => ({
  decision,
  ...(text !== undefined && { text }),
});

/** The lines of the events. Only the newest ones of those that happened before the watching are shown. */
class History {
  readonly #retell = retelling(agent.alarmsOf);
  readonly #until: number;
  readonly #show: (line: Line) => void;
  readonly #id: string;
  #earlier: Line[] = [];
  #omitted = 0;
  #isOver = false;

  constructor(until: number, show: (line: Line) => void, id: string) {
    this.#until = until;
    this.#show = show;
    this.#id = id;
  }

  add(event: JournaledEvent, before: Run, after: Run): void {
    const lines = this.#retell(event, before, after);
    if (this.#isOver) for (const line of lines) this.#show(line);
    else this.#earlier.push(...lines);
    if (this.#earlier.length > 2 * MOST_EARLIER) this.#shorten();
    if (event.seq >= this.#until) this.flush();
  }

  flush(): void {
    this.#shorten();
    const [first] = this.#earlier;
    if (first && this.#omitted > 0) {
      const text = `${this.#omitted} earlier lines are not shown. To see them: raymond logs ${shellWord(this.#id)}`;
      this.#show({ at: first.at, who: 'run', tone: 'faint', text });
    }
    for (const line of this.#earlier) this.#show(line);
    this.#earlier = [];
    this.#omitted = 0;
    this.#isOver = true;
  }

  #shorten(): void {
    const surplus = Math.max(0, this.#earlier.length - MOST_EARLIER);
    this.#earlier = this.#earlier.slice(surplus);
    this.#omitted += surplus;
  }
}

const MOST_EARLIER = 100;

function lastWords(found: StoredRun): readonly string[] {
  const { id, run, owner } = found;
  if (run.status.kind === 'ended') return [];
  return owner
    ? [`${id} continues. To watch it again: raymond watch ${shellWord(id)}`]
    : [
        `${id}: ${statusOf(found)}. Its process no longer exists. To continue: raymond resume ${shellWord(id)}`,
      ];
}
