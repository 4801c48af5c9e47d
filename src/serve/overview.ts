/**
 * The runs of the project and what waits for a person. A page gets the whole at first, and then only
 * what changes. One look at the store is for all pages, and without a page there is none.
 */
import type { RunControl } from '../app/for-programs.ts';
import { changesBetween } from '../look/changes.ts';
import type { ErrorBody } from '../look/common.ts';
import { rowForm } from '../look/run-form.ts';
import { UserError } from '../model/user-error.ts';
import { errorBodyOf } from './problems.ts';
import type { OpenQuestions } from './questions.ts';
import type { OverviewShape } from './shapes/changes.ts';
import { Bell, type ServerEvent } from './sse.ts';

export interface OverviewParts {
  readonly list: RunControl['list'];
  readonly questions: Pick<OpenQuestions, 'in'>;
  readonly now: () => number;
}

export class Overview {
  readonly #parts: OverviewParts;
  readonly #bells = new Set<Bell>();
  #known: Partial<OverviewShape> = {};
  /** The look that is on its way, or the newest one. */
  #look: Promise<void> = Promise.resolve();
  #isLooking = false;
  #nextAt = 0;

  constructor(parts: OverviewParts) {
    this.#parts = parts;
  }

  /** Something was done here, so pages need not wait for the next look. */
  ring(): void {
    this.#nextAt = 0;
    for (const bell of this.#bells) bell.ring();
  }

  async *changes(signal: AbortSignal): AsyncGenerator<ServerEvent> {
    const bell = new Bell(signal);
    this.#bells.add(bell);
    let sent: Partial<OverviewShape> = {};
    let told: string | undefined;
    try {
      while (!signal.aborted) {
        const problem = await this.#refresh().then(() => undefined, problemIn);
        const known = this.#known;
        const changes = known === sent ? [] : changesBetween(sent, known);
        sent = known;
        if (problem && problem.error.message !== told) yield { event: 'trouble', data: problem };
        // After a trouble, even no change is news.
        else if (!problem && (changes.length > 0 || told)) yield { event: 'change', data: changes };
        told = problem?.error.message;
        await bell.wait(Math.max(LEAST_PAUSE_MS, this.#nextAt - this.#parts.now()));
      }
    } finally {
      this.#bells.delete(bell);
    }
  }

  /** A slow look must not take all of the server's time. */
  async #refresh(): Promise<void> {
    const { now } = this.#parts;
    const began = now();
    if (!this.#isLooking && began >= this.#nextAt) {
      this.#isLooking = true;
      this.#nextAt = began + LOOK_EVERY_MS;
      this.#look = this.#read().finally(() => {
        this.#isLooking = false;
        // A ring during the look asks for another one.
        if (this.#nextAt !== 0)
          this.#nextAt = now() + Math.max(LOOK_EVERY_MS, PATIENCE * (now() - began));
      });
    }
    await this.#look;
  }

  async #read(): Promise<void> {
    const { runs } = await this.#parts.list();
    const next = {
      runs: Object.fromEntries(runs.map((found) => [found.id, rowForm(found)])),
      ...(await this.#parts.questions.in(runs)),
    };
    if (changesBetween(this.#known, next).length > 0) this.#known = next;
  }
}

function problemIn(error: unknown): ErrorBody {
  if (error instanceof UserError) return errorBodyOf(error);
  throw error;
}

const [LOOK_EVERY_MS, LEAST_PAUSE_MS, PATIENCE] = [1_000, 100, 3];
