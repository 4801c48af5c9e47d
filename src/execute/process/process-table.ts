import { markOf, type StepMark } from './mark.ts';
import { nameOf, type ProcessEntry } from './process-entry.ts';

/**
 * One reading of the process table. It is indexed once, so that finding a tree takes as many lookups
 * as the tree has members, however many processes the machine has.
 */
export class ProcessTable {
  readonly entries: readonly ProcessEntry[];
  readonly #own: ProcessEntry | undefined;
  /** All but pid 1, this process and its ancestors. */
  readonly #byName: ReadonlyMap<string, ProcessEntry>;
  readonly #byParent: Index<number>;
  readonly #byGroup: Index<number>;
  readonly #bySession: Index<number>;
  readonly #byToken: Index<string>;
  readonly #byLimit: Index<string>;
  readonly #byOutput: Index<string>;

  constructor(entries: readonly ProcessEntry[], self = process.pid) {
    const line = ancestry(entries, self);
    const others = entries.filter(({ pid }) => !line.has(pid) && pid > 1);
    this.entries = others;
    this.#own = entries.find(({ pid }) => pid === self);
    this.#byName = new Map(others.map((entry) => [nameOf(entry), entry]));
    this.#byParent = indexBy(others, ({ parent }) => [parent]);
    this.#byGroup = indexBy(others, ({ group }) => (group === undefined ? [] : [group]));
    this.#bySession = indexBy(others, ({ session }) => (session === undefined ? [] : [session]));
    this.#byToken = indexBy(others, ({ traces }) => traces.tokens);
    this.#byLimit = indexBy(others, ({ traces: { limit } }) => (limit ? [limitName(limit)] : []));
    this.#byOutput = indexBy(others, ({ traces }) => traces.outputs);
  }

  named(names: Iterable<string>): readonly ProcessEntry[] {
    return [...names].flatMap((name) => this.#byName.get(name) ?? []);
  }

  /** The processes with a mark of the step, or with one of its files as standard output or error. */
  marked(token: string, outputs: readonly string[]): readonly ProcessEntry[] {
    const mark = markOf(token);
    return [
      ...(this.#byToken.get(token) ?? []),
      ...((mark && this.#byLimit.get(limitName(mark))) ?? []),
      // Where the limit could not be set, this still finds a job that cleared its environment.
      ...outputs.flatMap((file) => this.#byOutput.get(file) ?? []),
    ];
  }

  /**
   * The processes that are related to `ours`. These are `ours`, their descendants, and all processes
   * that share a group or a session with one of them. Groups and sessions count only through a living
   * member, because their numbers are reused like pids. The result never contains this process or its
   * ancestors. Neither its group and session relate processes, nor do those with the number `shared`.
   */
  related(ours: Iterable<ProcessEntry>, shared?: number): ProcessEntry[] {
    const found = new Set(ours);
    const followed = new Set<string>();
    const follow = (kind: string, number: number | undefined, index: Index<number>) => {
      if (number === undefined || followed.has(`${kind}${number}`)) return;
      followed.add(`${kind}${number}`);
      for (const entry of index.get(number) ?? []) found.add(entry);
    };
    // A set also visits what is added to it meanwhile.
    for (const { pid, group, session } of found) {
      follow('p', pid, this.#byParent);
      if (group !== this.#own?.group && group !== shared) follow('g', group, this.#byGroup);
      if (session !== this.#own?.session && session !== shared)
        follow('s', session, this.#bySession);
    }
    return [...found];
  }
}

type Index<K> = ReadonlyMap<K, readonly ProcessEntry[]>;

function indexBy<K>(
  entries: readonly ProcessEntry[],
  keysOf: (entry: ProcessEntry) => readonly K[],
): Index<K> {
  const index = new Map<K, ProcessEntry[]>();
  for (const entry of entries)
    for (const key of keysOf(entry)) {
      const same = index.get(key);
      if (same) same.push(entry);
      else index.set(key, [entry]);
    }
  return index;
}

const limitName = ({ key, number }: StepMark): string => `${key}.${number}`;

/** A process, its parent, and so on. */
function ancestry(table: readonly ProcessEntry[], pid: number): ReadonlySet<number> {
  const parents = new Map(table.map((entry) => [entry.pid, entry.parent]));
  const line = new Set<number>();
  for (let next: number | undefined = pid; next !== undefined && !line.has(next); ) {
    line.add(next);
    next = parents.get(next);
  }
  return line;
}
