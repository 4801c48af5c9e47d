/** The runs of the project and what waits for a person. Both are read again every few seconds. */
import type { QuestionList, QuestionShape } from '../../src/serve/shapes/questions.ts';
import type { RunList, RunRow } from '../../src/serve/shapes/run-row.ts';
import { get, type Trouble, troubleFrom } from '../lib/api.ts';
import { Store } from '../lib/store.ts';
import { Refresher } from './refresher.ts';

export class RunsWatch {
  readonly runs = new Store<readonly RunRow[] | undefined>(undefined);
  readonly questions = new Store<readonly QuestionShape[]>([]);
  readonly trouble = new Store<Trouble | undefined>(undefined);
  readonly #reader = new Refresher(() => this.#read());
  readonly #timer: number;
  #last = '';

  constructor() {
    this.#reader.want();
    this.#timer = window.setInterval(() => document.hidden || this.#reader.want(), EVERY_MS);
    document.addEventListener('visibilitychange', this.#lookAtTab);
  }

  end(): void {
    clearInterval(this.#timer);
    document.removeEventListener('visibilitychange', this.#lookAtTab);
    this.#reader.end();
  }

  refresh(): void {
    this.#reader.want();
  }

  readonly #lookAtTab = () => document.hidden || this.#reader.want();

  async #read(): Promise<void> {
    try {
      const [{ runs }, { questions }] = await Promise.all([
        get<RunList>('/api/runs'),
        get<QuestionList>('/api/questions'),
      ]);
      this.trouble.set(undefined);
      // Most readings change nothing, and then nothing is drawn again.
      const text = JSON.stringify([runs, questions]);
      if (text === this.#last) return;
      this.#last = text;
      this.questions.set(questions);
      this.runs.set(runs);
    } catch (error) {
      this.trouble.set(troubleFrom(error));
    }
  }
}

const EVERY_MS = 2_500;
