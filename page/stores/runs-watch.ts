/** The runs of the project and what waits for a person. Both are read again every few seconds. */

import type { RunList, RunRow } from '../../src/look/run-shape.ts';
import type { QuestionList } from '../../src/serve/shapes/questions.ts';
import { get, type Trouble, troubleFrom } from '../lib/api.ts';
import { session } from '../lib/session.ts';
import { Store } from '../lib/store.ts';
import { Refresher } from './refresher.ts';

export class RunsWatch {
  readonly runs = new Store<readonly RunRow[] | undefined>(undefined);
  /** What waits for a person, the oldest first. */
  readonly wants = new Store<readonly Want[]>([]);
  readonly trouble = new Store<Trouble | undefined>(undefined);
  readonly #reader = new Refresher(() => this.#read());
  #timer: number | undefined;
  #unsubscribe: (() => void) | undefined;
  #last = '';

  /** A run that the page shows is asked for earlier. */
  start(): void {
    this.#reader.want();
    this.#timer = window.setInterval(() => document.hidden || this.#reader.want(), EVERY_MS);
    document.addEventListener('visibilitychange', this.#lookAtTab);
    // A new token, or the end of one: both change what can be read.
    this.#unsubscribe = session.subscribe(() => this.#reader.want());
  }

  end(): void {
    clearInterval(this.#timer);
    this.#unsubscribe?.();
    document.removeEventListener('visibilitychange', this.#lookAtTab);
    this.#reader.end();
  }

  refresh(): void {
    this.#reader.want();
  }

  readonly #lookAtTab = () => document.hidden || this.#reader.want();

  async #read(): Promise<void> {
    try {
      const [{ runs }, waiting] = await Promise.all([
        get<RunList>('/api/runs'),
        get<QuestionList>('/api/questions'),
      ]);
      this.trouble.set(undefined);
      // Most readings change nothing, and then nothing is drawn again.
      const text = JSON.stringify([runs, waiting]);
      if (text === this.#last) return;
      this.#last = text;
      this.wants.set(wantsIn(waiting));
      this.runs.set(runs);
    } catch (error) {
      this.trouble.set(troubleFrom(error));
    }
  }
}

const EVERY_MS = 2_500;

export type Want =
  | QuestionList['questions'][number]
  | ({ readonly kind: 'permission' } & QuestionList['permissions'][number]);

function wantsIn({ questions, permissions }: QuestionList): readonly Want[] {
  const asked = permissions.map((one) => ({ kind: 'permission' as const, ...one }));
  return [...questions, ...asked].sort((a, b) => (a.asked_at < b.asked_at ? -1 : 1));
}
