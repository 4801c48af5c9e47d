/**
 * Begins and continues several runs under one budget, and waits for them. The id of each follows from what it
 * is, so a command that is given again finds those that exist. None depends on this process: it can be killed,
 * and called again.
 */
import { followEvents } from '../host/follow-run.ts';
import { openRun } from '../host/open-run.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import { isCompleted } from '../model/condition.ts';
import type { Door } from '../model/notice.ts';
import type { Run } from '../model/run.ts';
import type { RunSummary } from '../model/run-summary.ts';
import { shellWord } from '../model/shell-word.ts';
import { UserError } from '../model/user-error.ts';
import type { StoredRun } from '../ports.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { relaunch } from './resume.ts';
import { type SharedBudget, sharedBudget } from './shared-budget.ts';

export interface CarryOptions {
  /** How many runs work at a time. */
  readonly maxParallel?: number | undefined;
  /** For all runs together; undefined is no limit. */
  readonly totalBudget?: number | undefined;
  /** Continues a run that rests. By default, a process of its own does. */
  readonly carry?: ((id: string) => Promise<void>) | undefined;
  /** Whether to leave when all have begun. */
  readonly detach?: boolean | undefined;
}

export interface OneOfSeveral {
  readonly id: string;
  /** Whether a stored run is this one. An id can be in use. */
  isIt(run: Pick<RunSummary, 'origin' | 'cell'>): boolean;
  /** Otherwise it is this, for people. */
  readonly other: string;
  /** What it may spend, and the least with which it begins. */
  readonly budget: { readonly wanted: number; readonly least: number };
  /** Creates the run. Nothing works on it yet. */
  begin(budgetUsd: number): Promise<void>;
  readonly began: () => void;
  readonly continues: () => void;
}

/** Each is a process with an agent. */
export const MOST_AT_ONCE = 4;

/** A run with less than this does not begin. */
export const LEAST_USD = 0.01;

/** Runs that are begun, continued and waited for under one budget. */
export class SeveralRuns {
  readonly #around: Surroundings;
  readonly #options: Pick<CarryOptions, 'carry' | 'detach'>;
  readonly #door: Door;
  readonly #money: SharedBudget;
  readonly #known: Set<string>;
  readonly #held = new Map<string, number>();

  constructor(
    around: Surroundings,
    /** All runs that exist. */
    existing: readonly string[],
    /** Those of them that belong to the budget. */
    own: readonly StoredRun<RunSummary>[],
    options: CarryOptions,
    door: Door,
  ) {
    this.#around = around;
    this.#options = options;
    this.#door = door;
    this.#known = new Set(existing);
    this.#money = sharedBudget(options.totalBudget);
    for (const { id, run } of own) {
      const reserved = isOver(run) ? run.totalCostUsd : Math.max(run.budgetUsd, run.totalCostUsd);
      this.#money.hold(reserved);
      if (isOver(run)) this.#money.give(reserved, reserved);
      else this.#held.set(id, reserved);
    }
  }

  /** Whether a run exists already. Such runs come first, so that what they give back reaches the others. */
  has({ id }: Pick<OneOfSeveral, 'id'>): boolean {
    return this.#known.has(id);
  }

  /** A process that was killed while it created the run has left no event. */
  async #exists(one: OneOfSeveral): Promise<boolean> {
    if (!this.has(one)) return false;
    const found = await this.#around.store.look(one.id);
    return found.kind === 'stored' || !NOT_BEGUN.includes(found.problem.code);
  }

  /** Resolves when the run is over, or waits for a person. */
  async carry(one: OneOfSeveral): Promise<void> {
    const { id, budget } = one;
    let reserved = this.#held.get(id) ?? 0;
    const isNew = !(await this.#exists(one));
    const isHeld = this.#held.delete(id);
    if (isNew) {
      const taken = await this.#money.take(budget.wanted, budget.least);
      if (taken === undefined) throw tooLittle(id);
      reserved = taken;
    }
    let spent = 0;
    try {
      if (isNew) {
        await one.begin(reserved);
        this.#known.add(id);
        spent = reserved;
        one.began();
      }
      spent = reserved;
      const run = await carried(this.#around, one, this.#options, this.#door);
      spent = isOver(run) ? run.totalCostUsd : reserved;
    } finally {
      if (isNew || isHeld) this.#money.give(reserved, spent);
    }
  }
}

const NOT_BEGUN: readonly string[] = ['journal-empty', 'no-run'];

/** Does work for each, at most `atOnce` at a time. A UserError leaves one out. */
export async function eachInParallel<T>(
  all: readonly T[],
  atOnce: number,
  work: (one: T) => Promise<void>,
  left: (one: T, problem: UserError) => void,
): Promise<void> {
  const queue = [...all];
  const take = async () => {
    for (let one = queue.shift(); one !== undefined; one = queue.shift()) {
      const next = one;
      await work(next).catch((problem) => {
        if (!(problem instanceof UserError)) throw problem;
        left(next, problem);
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, take));
}

const tooLittle = (id: string) =>
  new UserError(
    'budget-spent',
    `${id} does not begin, because the budget for all runs is spent or given to others.`,
    'Run the command again with a larger --total-budget.',
  );

const notIt = (id: string, other: string) =>
  new UserError(
    'run-exists',
    `${id} exists, but it is ${other}.`,
    `Remove it: raymond prune ${shellWord(id)}`,
  );

/** Whether it spends nothing more, unless a person continues it. */
const isOver = (run: Pick<RunSummary, 'status'>) =>
  isCompleted(run) || (run.status.kind === 'ended' && run.status.outcome !== 'interrupted');

/** Lets a run go on until it is over or waits for a person. A process that dies is replaced. */
async function carried(
  around: Surroundings,
  { id, isIt, other, continues }: OneOfSeveral,
  { carry, detach }: Pick<CarryOptions, 'carry' | 'detach'>,
  door: Door,
): Promise<Run> {
  const launch =
    carry ??
    (async () => {
      await relaunch(around, id, {}, door);
    });
  for (let starts = 0; ; starts++) {
    const { run, owner } = await openRun(around.store, id);
    if (!isIt(run)) throw notIt(id, other);
    if (isOver(run) || starts === MOST_STARTS) return run;
    if (!owner) {
      // Others may have taken it at this moment.
      await launch(id).catch((error) => {
        if (!(error instanceof UserError) || error.code !== 'run-locked') throw error;
      });
      if (starts > 0 || run.steps > 0) continues();
    }
    if (detach) return run;
    if (await restsForPerson(around, id)) return (await openRun(around.store, id)).run;
  }
}

const MOST_STARTS = 4;

/** Resolves when no process works on the run, or when nothing can go on without a person. */
async function restsForPerson(around: Surroundings, id: string): Promise<boolean> {
  let run = newRun;
  for await (const event of followEvents(around, id)) {
    run = apply(run, event);
    const { tally } = run;
    const waits = tally.asking + tally.asksPermission;
    const works = tally.ready + tally.waiting + tally.promptsRunning + tally.scriptsRunning;
    if (waits > 0 && works - tally.asksPermission <= 0) return true;
  }
  return false;
}
