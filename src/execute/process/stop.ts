// INV-21: No process of a step outlives its stop, and no other process is ever signalled.
//
// The start time of a process is compared immediately before each signal.
import { setTimeout as delay } from 'node:timers/promises';
import { living, type ProcessIdentity } from './identity.ts';
import { nameOf, type ProcessEntry, type ProcessSystem } from './process-entry.ts';
import { ProcessTable } from './process-table.ts';

/** Processes that are stopped together: those of one step, or the strays of a run. */
export interface Tree {
  /** It ends by itself after its command has ended and the exit file is written. */
  readonly wrapper?: ProcessIdentity | undefined;
  /** Processes that started earlier do not belong to the tree. */
  readonly since: string | undefined;
  /** The members in a process table. They may lose their parents, so every member is remembered. */
  find(table: ProcessTable): readonly Member[];
}

export type Member = ProcessIdentity & Pick<ProcessEntry, 'group'>;

/** How long members may take to end after each signal. */
export interface GracePeriods {
  /** After SIGINT, which lets the command end in order. Without this, SIGINT is not sent. */
  readonly interruptMs?: number;
  /** After SIGTERM, which is for the command's leftovers: background jobs of a shell ignore SIGINT. */
  readonly terminateMs: number;
}

/** How long killed processes may take to disappear before the process table is read again. */
const SETTLE_MS = 1000;
const ROUNDS = 20;

interface Ending {
  readonly tree: Tree;
  readonly grace: GracePeriods;
  readonly resolve: (survivors: readonly ProcessIdentity[]) => void;
}

interface FoundTree extends Ending {
  readonly members: readonly Member[];
}

/**
 * Ends trees of processes. All requests of one turn of the event loop share their reads of the
 * process table. A read takes longer the more processes the machine has.
 */
export class TreeStops {
  readonly #system: ProcessSystem;
  #asked: Ending[] = [];

  constructor(system: ProcessSystem) {
    this.#system = system;
  }

  /** Resolves with the processes that could not be ended, normally none. */
  end(tree: Tree, grace: GracePeriods): Promise<readonly ProcessIdentity[]> {
    return new Promise((resolve) => {
      const waiting = this.#asked.push({ tree, grace, resolve });
      if (waiting === 1) setImmediate(() => void this.#endAll(this.#asked.splice(0)));
    });
  }

  /** If the process table cannot be read, the wrapper is the only process that may be left. */
  async #endAll(endings: readonly Ending[]): Promise<void> {
    try {
      await this.#endTogether(endings);
    } catch {
      for (const { tree, resolve } of endings) resolve(tree.wrapper ? [tree.wrapper] : []);
    }
  }

  async #endTogether(endings: readonly Ending[]): Promise<void> {
    const found = await this.#look(endings);
    const isInterrupted = ({ grace }: Ending) => grace.interruptMs !== undefined;
    await Promise.all([
      this.#interrupt(found.filter(isInterrupted)),
      this.#terminate(found.filter((one) => !isInterrupted(one))),
    ]);
  }

  async #interrupt(found: readonly FoundTree[]): Promise<void> {
    if (found.length === 0) return;
    this.#send(found.flatMap(withoutWrapper), 'SIGINT');
    const wrappers = found.flatMap(({ tree }) => tree.wrapper ?? []);
    await waitUntilGone(
      wrappers,
      longest(found, ({ interruptMs = 0 }) => interruptMs),
    );
    await this.#terminate(await this.#look(found));
  }

  async #terminate(found: readonly FoundTree[]): Promise<void> {
    if (found.length === 0) return;
    const asked = found.flatMap(withoutWrapper);
    this.#send(asked, 'SIGTERM');
    await waitUntilGone(
      asked,
      longest(found, ({ terminateMs }) => terminateMs),
    );
    await this.#kill(found);
  }

  async #kill(endings: readonly Ending[]): Promise<void> {
    let alone: ReadonlySet<Tree> = new Set();
    let left = await this.#look(endings);
    for (let round = 0; left.length > 0 && round < ROUNDS; round++) {
      const wereAlone = alone;
      alone = new Set(left.filter(isWrapperAlone).map(({ tree }) => tree));
      // A wrapper whose command has ended gets one round to write the exit file and end.
      const due = left.filter(({ tree }) => !alone.has(tree) || wereAlone.has(tree));
      this.#killMembers(due.flatMap(withoutWrapper));
      await waitUntilGone(left.flatMap(withoutWrapper), SETTLE_MS);
      left = await this.#look(left);
    }
    for (const { members, resolve } of left) resolve(members);
  }

  /** Reads the table once for all trees. A tree without members is done: no process is left to fork. */
  async #look(endings: readonly Ending[]): Promise<readonly FoundTree[]> {
    const table = new ProcessTable(await this.#survey(earliest(endings)));
    return endings.flatMap((ending) => {
      const members = ending.tree.find(table);
      if (members.length > 0) return { ...ending, members };
      ending.resolve([]);
      return [];
    });
  }

  /** Retries, because a machine without free file handles may have some after the first processes end. */
  async #survey(since: string | undefined): Promise<readonly ProcessEntry[]> {
    for (let failures = 0; ; failures++) {
      try {
        return this.#system.survey(since);
      } catch (error) {
        if (failures === ROUNDS) throw error;
        await delay(SETTLE_MS / 10);
      }
    }
  }

  /** A stopped process handles a signal only after SIGCONT. */
  #send(members: readonly Member[], signal: NodeJS.Signals): void {
    for (const { pid } of living(members)) {
      this.#system.signal(pid, signal);
      this.#system.signal(pid, 'SIGCONT');
    }
  }

  /** A group leader is killed with its whole group, so that a child that is just being forked cannot escape. */
  #killMembers(members: readonly Member[]): void {
    for (const { pid, group } of living(members)) {
      if (group === pid) this.#system.signal(-group, 'SIGKILL');
      this.#system.signal(pid, 'SIGKILL');
    }
  }
}

/**
 * The members to signal. The wrapper is one of them only if it is alone: its command has not begun,
 * or the wrapper hangs.
 */
function withoutWrapper(found: FoundTree): readonly Member[] {
  const { members, tree } = found;
  return isWrapperAlone(found) ? members : members.filter((member) => !isWrapper(tree, member));
}

function isWrapperAlone({ tree, members }: FoundTree): boolean {
  return members.every((member) => isWrapper(tree, member));
}

function isWrapper({ wrapper }: Tree, member: Member): boolean {
  return wrapper !== undefined && nameOf(member) === nameOf(wrapper);
}

function earliest(endings: readonly Ending[]): string | undefined {
  const all = endings.map(({ tree }) => tree.since);
  if (all.includes(undefined)) return undefined;
  return all.reduce((a, b) => (Number(a) <= Number(b) ? a : b));
}

function longest(endings: readonly Ending[], ms: (grace: GracePeriods) => number): number {
  return Math.max(...endings.map(({ grace }) => ms(grace)));
}

/** Resolves when all have ended, or after the timeout. */
async function waitUntilGone(
  identities: readonly ProcessIdentity[],
  timeoutMs: number,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (let pauseMs = 5; performance.now() < deadline; pauseMs *= 1.5) {
    if (living(identities).length === 0) return;
    await delay(Math.min(pauseMs, 100));
  }
}
