/** The runs that were asked for last. */
import { UserError } from '../model/user-error.ts';
import type { RunStore, StoredRun } from '../ports.ts';
import { FollowedRun } from './followed-run.ts';

export interface FoundRun {
  readonly found: StoredRun;
  /** It has at least the events of `found`. */
  readonly followed: FollowedRun;
}

export class FollowedRuns {
  readonly #store: RunStore;
  readonly #most: number;
  readonly #runs = new Map<string, FollowedRun>();

  constructor(store: RunStore, most = MOST_RUNS) {
    this.#store = store;
    this.#most = most;
  }

  /** Throws a UserError if the run does not exist or cannot be read. */
  async find(id: string): Promise<FoundRun> {
    const known = this.#runs.get(id);
    const before = known?.run;
    const found = await this.look(id).catch((error) => {
      this.#drop(id);
      throw error;
    });
    // Another run may have got the id, or a damaged journal may have lost its end.
    const isSame =
      before === undefined ||
      before.seq === 0 ||
      (before.startedAt === found.run.startedAt && before.seq <= found.run.seq);
    if (known && (!isSame || known.trouble)) this.#drop(id);
    const followed = this.#runs.get(id) ?? new FollowedRun(this.#store, id, found.run.seq);
    this.#use(id, followed);
    await followed.reaches(found.run.seq);
    return { found, followed };
  }

  /** The run as its journal has it now. An id comes from a request, so it must be one of the known ids. */
  async look(id: string): Promise<StoredRun> {
    if (!(await this.#store.list()).includes(id)) throw noRun(id);
    const found = await this.#store.look(id);
    if (found.kind === 'damaged') throw found.problem;
    return found;
  }

  close(): void {
    for (const id of [...this.#runs.keys()]) this.#drop(id);
  }

  #use(id: string, followed: FollowedRun): void {
    this.#runs.delete(id);
    this.#runs.set(id, followed);
    const idle = [...this.#runs].filter(([other, { isUsed }]) => !isUsed && other !== id);
    for (const [other] of idle.slice(0, Math.max(0, this.#runs.size - this.#most)))
      this.#drop(other);
  }

  #drop(id: string): void {
    this.#runs.get(id)?.close();
    this.#runs.delete(id);
  }
}

const MOST_RUNS = 6;

function noRun(id: string): UserError {
  return new UserError(
    'no-run',
    `This project has no run ${id.slice(0, 200)}.`,
    'To see all runs: raymond list',
  );
}
