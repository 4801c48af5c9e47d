import type { Input } from '../model/input.ts';
import type { AgentStatus, Run } from '../model/run.ts';
import { deadlineOf } from '../model/tally.ts';
import type { Decided } from './decider.ts';

/** A wait that ends by itself: of an agent, or for the usage limit of an executor. */
export type Wait = { readonly until: number } & (
  | { readonly agent: string }
  | { readonly limit: string }
);

/** The input that reports the end of a wait. */
export function endOfWait(wait: Wait, at: number): Input {
  if ('limit' in wait) return { kind: 'usage-limit-over', at };
  return { kind: 'time-came', at, agent: wait.agent };
}

/**
 * The waits of a run that end by themselves: the pauses before retries, the deadlines of questions and
 * joins, and the usage limits. They are updated with each event, so that no decision has to search all
 * agents.
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
    const until = endOf(this.#run.agents.get(agent)?.status);
    const was = this.#agents.get(agent);
    if (until === was) return;
    if (until === undefined) this.#agents.delete(agent);
    else this.#agents.set(agent, until);
    if (was === this.#first) this.#first = 'unknown';
    else if (until !== undefined && this.#first !== 'unknown')
      this.#first = Math.min(this.#first, until);
  }

  #readAll(): void {
    const { tally, agents } = this.#run;
    this.#agents = new Map();
    this.#first = 'unknown';
    if (tally.waiting + tally.deadlines > 0) for (const [agent] of agents) this.#update(agent);
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

export function endOf(status: AgentStatus | undefined): number | undefined {
  return status && (status.kind === 'waiting' ? status.until : deadlineOf(status));
}

const least = (times: readonly number[]) =>
  times.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);

function isSame(a: Wait, b: Wait): boolean {
  if (a.until !== b.until) return false;
  return 'agent' in a ? 'agent' in b && a.agent === b.agent : 'limit' in b && a.limit === b.limit;
}
