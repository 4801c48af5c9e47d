// Nothing of a step outlives its stop, and nothing else is ever signalled: a process gets a signal
// only after its start time has been compared, right before.
import { setTimeout as delay } from 'node:timers/promises';
import { living, type ProcessIdentity } from './identity.ts';
import type { ProcessEntry, ProcessSystem } from './process-entry.ts';
import { isSame } from './tree.ts';

/** Processes that are ended together: those of one step, or what a run has left. */
export interface Tree {
  /** It goes by itself after its command, when it has written how that ended. */
  readonly wrapper?: ProcessIdentity;
  /** Nothing older belongs to it. */
  readonly since: string | undefined;
  /** The members that a table shows. They may lose their parents, so none is ever forgotten. */
  find(table: readonly ProcessEntry[]): readonly Member[];
}

export type Member = ProcessIdentity & Pick<ProcessEntry, 'group'>;

/** How much time members get to end by themselves, after each signal. */
export interface Patience {
  /** SIGINT, for the command to end in order; left out, it is not sent. */
  readonly interruptMs?: number;
  /** SIGTERM, for what the command left: the background jobs of a shell do not hear SIGINT. */
  readonly terminateMs: number;
}

/** How long a killed process may take to disappear before we look again. */
const SETTLE_MS = 1000;
const ROUNDS = 20;

interface Ending {
  readonly tree: Tree;
  readonly patience: Patience;
  readonly resolve: (survivors: readonly ProcessIdentity[]) => void;
}

interface Found extends Ending {
  readonly members: readonly Member[];
}

/**
 * Ends trees. Those that are asked for in one turn of the event loop are ended together, and a look at
 * the process table serves them all: its price grows with the processes of the whole machine.
 */
export class TreeStops {
  readonly #system: ProcessSystem;
  #asked: Ending[] = [];

  constructor(system: ProcessSystem) {
    this.#system = system;
  }

  /** Resolves with what could not be ended, normally nothing. */
  end(tree: Tree, patience: Patience): Promise<readonly ProcessIdentity[]> {
    return new Promise((resolve) => {
      const waiting = this.#asked.push({ tree, patience, resolve });
      if (waiting === 1) setImmediate(() => void this.#endAll(this.#asked.splice(0)));
    });
  }

  /** A process table that cannot be read leaves us with what we know. */
  async #endAll(endings: readonly Ending[]): Promise<void> {
    try {
      await this.#endTogether(endings);
    } catch {
      for (const { tree, resolve } of endings) resolve(tree.wrapper ? [tree.wrapper] : []);
    }
  }

  async #endTogether(endings: readonly Ending[]): Promise<void> {
    const found = await this.#look(endings);
    const isInterrupted = ({ patience }: Ending) => patience.interruptMs !== undefined;
    await Promise.all([
      this.#interrupt(found.filter(isInterrupted)),
      this.#terminate(found.filter((one) => !isInterrupted(one))),
    ]);
  }

  async #interrupt(found: readonly Found[]): Promise<void> {
    if (found.length === 0) return;
    this.#send(found.flatMap(withoutWrapper), 'SIGINT');
    const wrappers = found.flatMap(({ tree }) => tree.wrapper ?? []);
    await allGone(
      wrappers,
      longest(found, ({ interruptMs = 0 }) => interruptMs),
    );
    await this.#terminate(await this.#look(found));
  }

  async #terminate(found: readonly Found[]): Promise<void> {
    if (found.length === 0) return;
    const asked = found.flatMap(withoutWrapper);
    this.#send(asked, 'SIGTERM');
    await allGone(
      asked,
      longest(found, ({ terminateMs }) => terminateMs),
    );
    await this.#kill(found);
  }

  async #kill(endings: readonly Ending[]): Promise<void> {
    let alone: readonly Tree[] = [];
    let left = await this.#look(endings);
    for (let round = 0; left.length > 0 && round < ROUNDS; round++) {
      const wereAlone = alone;
      alone = left.filter(isWrapperAlone).map(({ tree }) => tree);
      // A wrapper whose command is gone gets one round to write its record and go.
      const due = left.filter(({ tree }) => !alone.includes(tree) || wereAlone.includes(tree));
      this.#killMembers(due.flatMap(withoutWrapper));
      await allGone(left.flatMap(withoutWrapper), SETTLE_MS);
      left = await this.#look(left);
    }
    for (const { members, resolve } of left) resolve(members);
  }

  /** One look for all. A tree of which nothing is left is done: where nobody is, nobody can fork. */
  async #look(endings: readonly Ending[]): Promise<readonly Found[]> {
    const table = await this.#survey(earliest(endings));
    return endings.flatMap((ending) => {
      const members = ending.tree.find(table);
      if (members.length > 0) return { ...ending, members };
      ending.resolve([]);
      return [];
    });
  }

  /** A machine that is out of file handles may have some again when the first processes have ended. */
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

  /** A stopped process hears a signal only when it is woken. */
  #send(members: readonly Member[], signal: NodeJS.Signals): void {
    for (const { pid } of living(members)) {
      this.#system.signal(pid, signal);
      this.#system.signal(pid, 'SIGCONT');
    }
  }

  /** A leader goes with its whole group, so that no child which is just being forked slips through. */
  #killMembers(members: readonly Member[]): void {
    for (const { pid, group } of living(members)) {
      if (group === pid) this.#system.signal(-group, 'SIGKILL');
      this.#system.signal(pid, 'SIGKILL');
    }
  }
}

/**
 * Whom to signal. Only when the wrapper is alone, since its command has not begun or it hangs, it is
 * a target itself.
 */
function withoutWrapper(found: Found): readonly Member[] {
  const { members, tree } = found;
  return isWrapperAlone(found) ? members : members.filter((member) => !isWrapper(tree, member));
}

function isWrapperAlone({ tree, members }: Found): boolean {
  return members.every((member) => isWrapper(tree, member));
}

function isWrapper({ wrapper }: Tree, member: Member): boolean {
  return wrapper !== undefined && isSame(member, wrapper);
}

function earliest(endings: readonly Ending[]): string | undefined {
  const all = endings.map(({ tree }) => tree.since);
  if (all.includes(undefined)) return undefined;
  return all.reduce((a, b) => (Number(a) <= Number(b) ? a : b));
}

function longest(endings: readonly Ending[], ms: (patience: Patience) => number): number {
  return Math.max(...endings.map(({ patience }) => ms(patience)));
}

/** Or the time is over. */
async function allGone(identities: readonly ProcessIdentity[], timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (let pauseMs = 5; performance.now() < deadline; pauseMs *= 1.5) {
    if (living(identities).length === 0) return;
    await delay(Math.min(pauseMs, 100));
  }
}
