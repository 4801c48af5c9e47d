/**
 * A run that is read once and then followed. Everything that answers need is kept up to date with each
 * event, so an answer about a long run does not read its journal again.
 */
import { PlaceReader } from '../forecast/places.ts';
import { OverlayReader } from '../graph/overlay.ts';
import { RunHistory } from '../history/run-history.ts';
import { Steps } from '../history/steps.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { JournaledEvent } from '../model/event.ts';
import type { Run } from '../model/run.ts';
import { UserError } from '../model/user-error.ts';
import type { RunStore } from '../ports.ts';
import { Bars } from '../timeline/bars.ts';

export class FollowedRun {
  readonly bars = new Bars();
  readonly history = new RunHistory((span) => this.bars.add(span));
  readonly overlay = new OverlayReader(this.history);
  readonly places = new PlaceReader();
  readonly steps = new Steps();
  readonly #over = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #known: number;
  #run: Run = newRun;
  #recent: SeenEvent[] = [];
  #trouble: { readonly error: unknown } | undefined;

  /** It is known to have so many events. */
  constructor(store: Pick<RunStore, 'watch'>, id: string, known = 0) {
    this.#known = known;
    void this.#follow(store.watch(id, 0, this.#over.signal));
  }

  get run(): Run {
    return this.#run;
  }

  /** Why it can no longer be followed. */
  get trouble(): { readonly error: unknown } | undefined {
    return this.#trouble;
  }

  get isUsed(): boolean {
    return this.#listeners.size > 0;
  }

  /** Calls back after changes, until the returned function is called. */
  onChange(act: () => void): () => void {
    this.#listeners.add(act);
    return () => void this.#listeners.delete(act);
  }

  /** Resolves when the run has so many events. Rejects if it cannot be followed. */
  async reaches(seq: number): Promise<void> {
    while (this.#run.seq < seq && !this.#trouble)
      await new Promise<void>((resolve) => {
        const end = this.onChange(() => {
          if (this.#run.seq < seq && !this.#trouble) return;
          end();
          resolve();
        });
      });
    if (this.#trouble) throw this.#trouble.error;
  }

  /** The newest events after a position; undefined if earlier ones are needed, too. */
  recentAfter(position: number): readonly SeenEvent[] | undefined {
    const first = this.#run.seq - this.#recent.length + 1;
    return position + 1 < first ? undefined : this.#recent.slice(position + 1 - first);
  }

  close(): void {
    this.#over.abort();
    this.#fail(new UserError('run-changed', 'The run was replaced or removed.', 'Load it again.'));
  }

  async #follow(events: AsyncIterable<JournaledEvent>): Promise<void> {
    try {
      for await (const event of events) this.#add(event);
    } catch (error) {
      this.#fail(error);
    }
  }

  #add(event: JournaledEvent): void {
    const before = this.#run;
    const run = apply(before, event);
    this.#run = run;
    this.overlay.follow(event, before, run);
    this.places.follow(event, run);
    this.steps.follow(event, run);
    // While it catches up, nobody asks for the older ones. To keep them even briefly takes a fifth longer.
    if (run.seq > this.#known - MOST_RECENT) this.#recent.push({ event, before, after: run });
    // Now and then, because each cut copies the rest.
    if (this.#recent.length > 2 * MOST_RECENT) this.#recent = this.#recent.slice(-MOST_RECENT);
    this.#tell();
  }

  #fail(error: unknown): void {
    this.#trouble ??= { error };
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

const MOST_RECENT = 1_000;

export interface SeenEvent {
  readonly event: JournaledEvent;
  readonly before: Run;
  readonly after: Run;
}
