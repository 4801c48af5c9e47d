/** The rows of the steps of one agent. Only what is new or not over is read again. */
import type { StepList, StepRow } from '../../src/look/step-list.ts';
import { get, type Trouble, troubleFrom } from '../lib/api.ts';
import { Store } from '../lib/store.ts';

export class StepsOf {
  readonly rows = new Store<readonly StepRow[] | undefined>(undefined);
  readonly trouble = new Store<Trouble | undefined>(undefined);
  readonly #path: string;
  readonly #left = new AbortController();
  #isReading = false;
  #isAskedAgain = false;

  constructor(run: string, agent: string) {
    this.#path = `/api/runs/${encodeURIComponent(run)}/steps/${encodeURIComponent(agent)}`;
  }

  end(): void {
    this.#left.abort();
  }

  /** The agent may have more steps than before. */
  async read(): Promise<void> {
    this.#isAskedAgain = true;
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#isAskedAgain && !this.#left.signal.aborted) {
        this.#isAskedAgain = false;
        await this.#readNew();
        this.trouble.set(undefined);
      }
    } catch (error) {
      if (!this.#left.signal.aborted) this.trouble.set(troubleFrom(error));
    } finally {
      this.#isReading = false;
    }
  }

  async #readNew(): Promise<void> {
    for (;;) {
      const known = settled(this.rows.value ?? []);
      const path = `${this.#path}?after=${known.at(-1)?.step ?? 0}`;
      const { steps, more } = await get<StepList>(path, this.#left.signal);
      this.rows.set([...known, ...steps]);
      if (!more) return;
    }
  }
}

/** The rows before the first one that is not over. */
export function settled(rows: readonly StepRow[]): readonly StepRow[] {
  const open = rows.findIndex(({ status }) => status === 'not over');
  return open < 0 ? rows : rows.slice(0, open);
}
