/**
 * The projects of the user, in one page. Each has answers of its own, which are made when somebody asks
 * for the project. A page also sees how each of them is. They are counted while a page is open, slowly,
 * because their runs are not what the page shows.
 */
import { basename } from 'node:path';
import { changesBetween } from '../look/changes.ts';
import { rowForm } from '../look/run-form.ts';
import type { StoredRow } from '../look/run-shape.ts';
import { UserError } from '../model/user-error.ts';
import { type Answers, answersFor, type ServeParts } from './answers.ts';
import { notFound } from './problems.ts';
import type { ProjectRow } from './shapes/changes.ts';
import { Bell } from './sse.ts';

/** A way to the other projects of the user. */
export interface OtherProjects {
  /** The folders of all projects that have runs and still exist. */
  readonly known: () => Promise<readonly string[]>;
  /** Throws a UserError if the project cannot be read. */
  readonly open: (folder: string) => Promise<ServeParts>;
}

export class Projects {
  readonly #own: ServeParts;
  readonly #others: OtherProjects;
  readonly #opened = new Map<string, Promise<ServeParts>>();
  readonly #answers = new Map<string, Answers>();
  readonly #listeners = new Set<() => void>();
  #over = new AbortController();
  /** Empty until they were counted. The same object as long as nothing has changed. */
  view: { readonly projects?: Readonly<Record<string, ProjectRow>> } = {};

  constructor(own: ServeParts, others: OtherProjects = NO_OTHERS) {
    this.#own = own;
    this.#others = others;
    this.#opened.set(own.project, Promise.resolve(own));
  }

  /** Without a folder, those of the project in which the server was started. */
  async answersOf(folder = this.#own.project): Promise<Answers> {
    if (folder !== this.#own.project && !(await this.#others.known()).includes(folder))
      throw notFound(
        `There is no project ${folder.slice(0, 200)} with runs of yours.`,
        'Choose one in the list of projects.',
      );
    const parts = await this.#open(folder);
    const answers = this.#answers.get(folder) ?? answersFor(parts, this);
    this.#answers.set(folder, answers);
    return answers;
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

  close(): void {
    for (const answers of this.#answers.values()) answers.close();
  }

  #open(folder: string): Promise<ServeParts> {
    const known = this.#opened.get(folder);
    if (known) return known;
    const opening = this.#others.open(folder);
    this.#opened.set(folder, opening);
    // The next attempt may succeed.
    opening.catch(() => this.#opened.delete(folder));
    return opening;
  }

  async #follow(): Promise<void> {
    const over = new AbortController();
    const bell = new Bell(over.signal);
    this.#over = over;
    const { now, report } = this.#own;
    // What the page shows comes first.
    await bell.wait(FIRST_PAUSE_MS);
    while (!over.signal.aborted) {
      const began = now();
      const projects = await this.#read().catch(report);
      if (over.signal.aborted) return;
      if (projects && changesBetween(this.view.projects, projects).length > 0) {
        this.view = { projects };
        for (const listener of this.#listeners) listener();
      }
      await bell.wait(Math.max(PAUSE_MS, PATIENCE * (now() - began)));
    }
  }

  async #read(): Promise<Readonly<Record<string, ProjectRow>>> {
    const rows: [string, ProjectRow][] = [];
    // One after the other: nobody waits for them.
    for (const folder of new Set([this.#own.project, ...(await this.#others.known())]))
      rows.push([folder, await this.#row(folder)]);
    return Object.fromEntries(rows);
  }

  async #row(folder: string): Promise<ProjectRow> {
    const named = { name: basename(folder) || folder, folder };
    try {
      const { runs } = await (await this.#open(folder)).control.list();
      const rows = runs.map(rowForm).flatMap((row) => (row.status === 'damaged' ? [] : [row]));
      const count = (is: (row: (typeof rows)[number]) => boolean) => rows.filter(is).length;
      return {
        ...named,
        runs: runs.length,
        active: count(({ status }) => status === 'running' || status === 'stopping'),
        failed: count(hasFailure),
        waiting: rows.reduce((sum, row) => sum + row.questions, 0),
        cost_usd: rows.reduce((sum, row) => sum + row.cost_usd, 0),
        problem: null,
      };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const nothing = { runs: 0, active: 0, failed: 0, waiting: 0, cost_usd: 0 };
      return { ...named, ...nothing, problem: error.message };
    }
  }
}

/** Also a completed run, if a join has reported a failure. */
const hasFailure = ({ status, agents }: StoredRow) =>
  status === 'failed' || status === 'crashed' || agents.failed + agents.failed_joined > 0;

const NO_OTHERS: OtherProjects = {
  known: async () => [],
  open: (folder) => Promise.reject(notFound(`There is no project ${folder}.`, '')),
};

const [FIRST_PAUSE_MS, PAUSE_MS, PATIENCE] = [1_500, 5_000, 5];
