/**
 * The runs of the project and what waits for a person. One look at the store is for all pages, and
 * without a page there is none.
 */
import { basename } from 'node:path';
import type { RunControl } from '../app/for-programs.ts';
import { changesBetween } from '../look/changes.ts';
import { rowForm } from '../look/run-form.ts';
import type { RunStore } from '../ports.ts';
import type { OpenQuestions } from './questions.ts';
import type { OverviewShape } from './shapes/changes.ts';
import { Bell, ringWith } from './sse.ts';

export interface OverviewParts {
  /** The folder of the project. */
  readonly project: string;
  readonly list: RunControl['list'];
  readonly news: RunStore['news'];
  readonly questions: Pick<OpenQuestions, 'in'>;
  readonly now: () => number;
}

export class Overview {
  readonly #parts: OverviewParts;
  readonly #listeners = new Set<() => void>();
  #over = new AbortController();
  #bell = new Bell(this.#over.signal);
  /** Ends the pause after a look. */
  #hurry = new Bell(this.#over.signal);
  /**
   * Empty until it was read. The same object as long as nothing has changed. Without a page it grows old,
   * and the next page sees it until the next look.
   */
  view: Partial<OverviewShape> = {};
  /** Why it cannot be read now. */
  trouble: { readonly error: unknown } | undefined;

  constructor(parts: OverviewParts) {
    this.#parts = parts;
  }

  /** Calls back after changes, until the returned function is called. */
  onChange(act: () => void): () => void {
    this.#listeners.add(act);
    if (this.#listeners.size === 1) void this.#follow();
    return () => {
      this.#listeners.delete(act);
      if (this.#listeners.size === 0) this.#over.abort();
    };
  }

  /** Something was done here, so pages need not wait for the next look. */
  look(): void {
    this.#bell.ring();
    this.#hurry.ring();
  }

  async #follow(): Promise<void> {
    const { now, news } = this.#parts;
    const over = new AbortController();
    const bell = new Bell(over.signal);
    const hurry = new Bell(over.signal);
    [this.#over, this.#bell, this.#hurry] = [over, bell, hurry];
    this.trouble = undefined;
    void ringWith(news(undefined, over.signal), bell.ring);
    while (!over.signal.aborted) {
      const began = now();
      const before = [this.view, this.trouble];
      const next = await this.#read().catch((error: unknown) => ({ error }));
      if (over.signal.aborted) return;
      if (!('error' in next)) this.trouble = undefined;
      else if (`${next.error}` !== `${this.trouble?.error}`) this.trouble = next;
      if (!('error' in next) && changesBetween(this.view, next).length > 0) this.view = next;
      if (before[0] !== this.view || before[1] !== this.trouble)
        for (const listener of this.#listeners) listener();
      // A slow look must not take all of the server's time.
      await hurry.wait(Math.max(PAUSE_MS, PATIENCE * (now() - began)));
      // What cannot be read may be readable soon, and the store has no news of that.
      await bell.wait(this.trouble && PAUSE_MS);
    }
  }

  async #read(): Promise<OverviewShape> {
    const { project } = this.#parts;
    const { runs } = await this.#parts.list();
    return {
      project: { name: basename(project) || project, folder: project },
      runs: Object.fromEntries(runs.map((found) => [found.id, rowForm(found)])),
      ...(await this.#parts.questions.in(runs)),
    };
  }
}

const [PAUSE_MS, PATIENCE] = [900, 3];
