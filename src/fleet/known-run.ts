import type { Workflows } from '../interpret/follow.ts';
import type { Run } from '../model/run.ts';
import type { Queries } from '../postgres/database.ts';
import type { Head } from '../postgres/head.ts';
import { eventsAfter, type RunRow } from '../postgres/run-row.ts';
import type { RowSeals } from '../postgres/seals.ts';
import { type Decided, Decider } from '../run/decider.ts';
import { RunChanged, RunGone } from './lock-run.ts';

/**
 * The newest state of a run that a worker knows. The decider stays between turns, because a new one reads
 * every agent. A turn takes it, advances it, and gives it back when its decisions are stored. Otherwise the next
 * turn begins at the known state again.
 */
export class KnownRun {
  readonly #workflows: Workflows;
  #run: Run;
  #mark: Mark;
  #decider: Decider | undefined;

  constructor(workflows: Workflows, run: Run, mark: Mark) {
    this.#workflows = workflows;
    this.#run = run;
    this.#mark = mark;
  }

  get run(): Run {
    return this.#run;
  }

  /** Its position in the chain of events. */
  get mark(): Mark {
    return this.#mark;
  }

  keep(decider: Decider, mark: Mark): void {
    this.#run = decider.run;
    this.#mark = mark;
    this.#decider = decider;
  }

  /**
   * Follows what others have stored, up to a row whose head was checked. Rejects with RunGone or RunChanged.
   */
  async follow(
    queries: Queries,
    rows: RowSeals,
    row: RunRow,
    load: (run: Run) => Promise<void>,
  ): Promise<{ readonly decider: Decider; readonly news: readonly Decided[] }> {
    const { id, seq } = this.#run;
    const { born, era, link } = this.#mark;
    if (row.born !== born) throw new RunGone(`${id} was removed.`);
    if (row.era !== era) throw new RunChanged(`A person has accepted ${id} as it is.`);
    const decider = this.#decider ?? new Decider(this.#workflows, this.#run);
    this.#decider = undefined;
    const news: Decided[] = [];
    for await (const events of eventsAfter(queries, id, row, seq, { rows, link }))
      news.push(...events.map((event) => decider.follow(event)));
    const has = (...types: readonly string[]) =>
      news.some(({ event }) => types.includes(event.type));
    if (has('run-resumed', 'run-rewound'))
      throw new RunChanged(`The settings of ${id} have changed.`);
    if (news.length > 0) await load(decider.run);
    // The workflows decide which agents are ready for a prompt.
    const isReading = has('workflow-read');
    return { decider: isReading ? new Decider(this.#workflows, decider.run) : decider, news };
  }
}

/** A position in the chain, without the number of events. */
export type Mark = Pick<Head, 'born' | 'era' | 'link'>;
