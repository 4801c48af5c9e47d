import type { Run } from '../model/run.ts';
import { deadlineOf } from '../model/tally.ts';
import type { Decided } from './decider.ts';
import { type Wait, waitsOf } from './waits.ts';

/**
 * The waits of a run that end by themselves. They are updated with each event, so that no decision
 * has to search all agents.
 */
export class OpenWaits {
  #agents = new Map<string, number>();
  /** The first end of the waits of agents; unknown after that wait is over. */
  #first: number | 'unknown';
  #run: Run;

  constructor(run: Run) {
    this.#run = run;
    this.#first = 'unknown';
    this.#readAll();
  }

  follow({ event, after }: Decided): void {
    this.#run = after;
    if ('agent' in event) this.#update(event.agent);
    const { waiting, deadlines } = after.tally;
    // A resume and a rewind change any number of agents.
    if (this.#agents.size !== waiting + deadlines || CHANGES_ALL.has(event.type)) this.#readAll();
  }

  over(at: number): readonly Wait[] {
    const end = this.#firstEnd();
    return end === undefined || end > at ? [] : this.#all().filter(({ until }) => until <= at);
  }

  /**
   * When to check the run again; undefined if no time matters. A wait in `tried` was over and is
   * still open, so it is tried again later.
   */
  nextLook(at: number, tried: readonly Wait[]): number | undefined {
    if (this.#run.status.kind === 'ended') return undefined;
    const end = this.#firstEnd();
    if (end === undefined || end > at) return end;
    const hasBeen = (wait: Wait) => tried.some((one) => isSame(one, wait));
    const ends = this.#all().map((wait) => (hasBeen(wait) ? at + TRY_AGAIN_MS : wait.until));
    return Math.min(...ends);
  }

  #update(agent: string): void {
    const status = this.#run.agents.get(agent)?.status;
    const until = status && (status.kind === 'waiting' ? status.until : deadlineOf(status));
    const was = this.#agents.get(agent);
    if (until === was) return;
    if (until === undefined) this.#agents.delete(agent);
    else this.#agents.set(agent, until);
    if (was === this.#first) this.#first = 'unknown';
    else if (until !== undefined && this.#first !== 'unknown')
      this.#first = Math.min(this.#first, until);
  }

  #readAll(): void {
    const waits = waitsOf(this.#run).flatMap((one) => ('agent' in one ? [one] : []));
    this.#agents = new Map(waits.map(({ agent, until }) => [agent, until]));
    this.#first = 'unknown';
  }

  #firstEnd(): number | undefined {
    if (this.#first === 'unknown') this.#first = least([...this.#agents.values()]);
    const first = Math.min(this.#first, least(Object.values(this.#run.limits)));
    return first === Number.POSITIVE_INFINITY ? undefined : first;
  }

  #all(): readonly Wait[] {
    const limits = Object.entries(this.#run.limits).map(([limit, until]) => ({ limit, until }));
    return [...limits, ...[...this.#agents].map(([agent, until]) => ({ agent, until }))];
  }
}

const CHANGES_ALL: ReadonlySet<string> = new Set(['run-resumed', 'run-rewound']);
const TRY_AGAIN_MS = 10_000;

const least = (times: readonly number[]) =>
  times.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);

function isSame(a: Wait, b: Wait): boolean {
  if (a.until !== b.until) return false;
  return 'agent' in a ? 'agent' in b && a.agent === b.agent : 'limit' in b && a.limit === b.limit;
}
