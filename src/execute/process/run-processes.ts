/**
 * All processes of a run are launched, adopted, stopped and found through `RunProcesses`. Every
 * descendant of a step belongs to the run, even after the step has lost track of it.
 */
import { randomInt } from 'node:crypto';
import { realpathSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { adopt } from './adopt.ts';
import { enclosingRuns } from './enclosing-runs.ts';
import { boot, isAlive, type ProcessIdentity } from './identity.ts';
import { type Launch, launch, type ProcessHandle } from './launch.ts';
import { MARKS, markOf, runKey, type StepMark } from './mark.ts';
import { nameOf, type PidAndStart } from './pid-and-start.ts';
import type { ProcessEntry, ProcessSystem } from './process-entry.ts';
import { ProcessTable } from './process-table.ts';
import {
  type Exit,
  foldersWithRecords,
  type ProcessRecord,
  readRecord,
  stderrOf,
  stdoutOf,
} from './record.ts';
import { type GracePeriods, type Member, type Tree, TreeStops } from './stop.ts';
import { system as thisMachine } from './system.ts';

export interface LaunchedProcess {
  /** Missing when the process could not be created: then `ended` gives the reason. */
  readonly identity?: ProcessIdentity;
  /** Only for a process launched here with a pipe. Text written after its end is lost. */
  readonly stdin?: Writable;
  readonly stdoutFile: string;
  readonly stderrFile: string;
  /** Resolves when the command ends, even if its background jobs still run. Never rejects. */
  readonly ended: Promise<Exit>;
  /** Ends the whole tree; resolves with the processes that could not be ended. */
  stop(graceMs?: number): Promise<readonly ProcessIdentity[]>;
  /** Ends the processes that the command left running; call it after the command has ended. */
  endLeftovers(graceMs?: number): Promise<readonly ProcessIdentity[]>;
}

export class RunProcesses {
  readonly #folder: string;
  readonly #system: ProcessSystem;
  readonly #stops: TreeStops;
  /** The trees that were launched or adopted here and have not ended, with the number in their mark. */
  readonly #known = new Map<Tree, number | undefined>();
  readonly #leaves = new Set<() => void>();
  #isLeft = false;
  #key: string | undefined;
  /** Begins at random, so that numbers of an earlier Raymond process are rarely reused. */
  #number = randomInt(MARKS);

  /** `folder` is the run's folder, or another one that identifies the owner of the processes. */
  constructor(folder: string, system: ProcessSystem = thisMachine) {
    this.#folder = folder;
    this.#system = system;
    this.#stops = new TreeStops(system);
  }

  /**
   * Runs a command detached, with its output in files, so that both survive this process. A command
   * that cannot be started ends as `unstarted`. Throws only when the folder cannot be used.
   */
  launch(wanted: Launch): LaunchedProcess {
    this.#checkOurs();
    return this.#launched(launch(wanted, () => this.#newMark()));
  }

  /**
   * Takes over the process that an earlier Raymond process launched in this folder, whether it runs
   * or has ended. Returns undefined if no command began in this folder and none will.
   */
  adopt(folder: string): LaunchedProcess | undefined {
    this.#checkOurs();
    const begun = adopt(folder);
    return begun && this.#launched(begun);
  }

  /** Ends all processes that are left of the steps in these folders. */
  async endSteps(
    folders: readonly string[],
    graceMs = LEFTOVER_GRACE_MS,
  ): Promise<readonly ProcessIdentity[]> {
    const trees = folders.flatMap((folder) => {
      const record = readRecord(folder);
      return record ? stepTree(realpathSync(folder), record) : [];
    });
    const left = trees.map((tree) => this.#stops.end(tree, { terminateMs: graceMs }));
    return (await Promise.all(left)).flat();
  }

  /**
   * Ends the strays: processes of the run that belong to no process launched or adopted here. They
   * are background jobs of ended agents, or were left running when a Raymond process was killed.
   */
  async endStrays(graceMs = LEFTOVER_GRACE_MS): Promise<readonly ProcessIdentity[]> {
    if (this.#isLeft) return [];
    const tree = this.#whileOurs(strays(this.#runKey(), () => this.#known.keys()));
    return this.#stops.end(tree, { terminateMs: graceMs });
  }

  /**
   * Gives up the processes, because another Raymond process has adopted them. From now on this object
   * follows, ends and launches no process. Processes that still run end as `left`.
   */
  leave(): void {
    this.#isLeft = true;
    for (const leave of this.#leaves) leave();
  }

  /** The processes that `endStrays` would end. */
  strays(): readonly ProcessIdentity[] {
    return strays(this.#runKey(), () => this.#known.keys()).find(
      new ProcessTable(this.#system.survey()),
    );
  }

  /** The folders of all steps of which a process was recorded, for a run that nobody can read. */
  recordedSteps(): readonly string[] {
    return foldersWithRecords(this.#folder);
  }

  /** Whether this process descends from a step of the run. */
  includeThisProcess(): boolean {
    return enclosingRuns().includes(this.#runKey());
  }

  #launched({ folder, record, stdin, ended, leave }: ProcessHandle): LaunchedProcess {
    const files = { stdoutFile: stdoutOf(folder), stderrFile: stderrOf(folder) };
    if (!record) return { ...files, ended, stop: async () => [], endLeftovers: async () => [] };
    this.#leaves.add(leave);
    void ended.then(() => this.#leaves.delete(leave));
    const tree = this.#whileOurs(stepTree(folder, record));
    this.#known.set(tree, markOf(record.token)?.number);
    // Callers that come while the tree is being ended share the same ending.
    let ending: Promise<readonly ProcessIdentity[]> | undefined;
    const end = async (grace: GracePeriods) => {
      if (this.#isLeft) return [];
      ending ??= this.#stops.end(tree, grace).finally(() => {
        ending = undefined;
        this.#known.delete(tree);
      });
      return ending;
    };
    return {
      identity: record.identity,
      ...(stdin && { stdin }),
      ...files,
      ended,
      stop: (graceMs = STOP_GRACE_MS) => end({ interruptMs: graceMs, terminateMs: graceMs / 5 }),
      endLeftovers: (graceMs = LEFTOVER_GRACE_MS) => end({ terminateMs: graceMs }),
    };
  }

  #checkOurs(): void {
    if (this.#isLeft)
      throw new Error('The processes of this run belong to another Raymond process.');
  }

  /** Also stops an ending that has already begun. */
  #whileOurs(tree: Tree): Tree {
    return { ...tree, find: (table) => (this.#isLeft ? [] : tree.find(table)) };
  }

  #newMark(): StepMark {
    const numbersInUse = new Set(this.#known.values());
    do this.#number = (this.#number + 1) % MARKS;
    while (numbersInUse.has(this.#number));
    return { key: this.#runKey(), number: this.#number };
  }

  /** Computed on first use: the folder is created with the first step. */
  #runKey(): string {
    this.#key ??= runKey(realOrSame(this.#folder), boot());
    return this.#key;
  }
}

/** The run folders that have a living process. Reads the process table once. */
export function foldersWithProcesses(folders: readonly string[]): ReadonlySet<string> {
  const table = thisMachine.survey();
  const marks = table.flatMap(({ traces: { tokens, limit } }) => [limit, ...tokens.map(markOf)]);
  const keys = new Set(marks.map((mark) => mark?.key));
  return new Set(folders.filter((folder) => keys.has(runKey(realOrSame(folder), boot()))));
}

/** Whether the command that was launched in this folder is alive. */
export function hasLivingProcess(folder: string): boolean {
  const record = readRecord(folder);
  return record !== undefined && isAlive(record.identity);
}

const STOP_GRACE_MS = 5000;
const LEFTOVER_GRACE_MS = 1000;

function stepTree(folder: string, { identity, token }: ProcessRecord): Tree {
  const outputs = [stdoutOf(folder), stderrOf(folder)];
  const find = cumulativeFinder([identity], (table) => table.marked(token, outputs));
  return {
    wrapper: identity,
    since: identity.started,
    find: (table) => (identity.boot === boot() ? find(table) : []),
  };
}

function strays(key: string, spared: () => Iterable<Tree>): Tree {
  const isMarked = ({ traces: { tokens, limit } }: ProcessEntry) =>
    limit?.key === key || tokens.some((token) => markOf(token)?.key === key);
  const find = cumulativeFinder([], (table) => table.entries.filter(isMarked));
  return {
    since: undefined,
    find: (table) => {
      const others = new Set([...spared()].flatMap((tree) => tree.find(table)).map(nameOf));
      const isStray = (one: PidAndStart) => !others.has(nameOf(one));
      // Wrappers first: otherwise they would record our signal as the end of their command.
      const isLeader = ({ pid, session }: ProcessEntry) => pid === session;
      const leaders = new Set(table.entries.filter(isLeader).map(nameOf));
      const rank = (one: PidAndStart) => (leaders.has(nameOf(one)) ? 0 : 1);
      return find(table, isStray).toSorted((a, b) => rank(a) - rank(b));
    },
  };
}

/** Finds marked processes and the processes related to them. Each call also finds all members found before. */
function cumulativeFinder(
  roots: readonly PidAndStart[],
  markedIn: (table: ProcessTable) => readonly ProcessEntry[],
): (table: ProcessTable, isWanted?: (one: PidAndStart) => boolean) => readonly Member[] {
  const known = new Set(roots.map(nameOf));
  return (table, isWanted = () => true) => {
    const ours = [...table.named(known), ...markedIn(table)].filter(isWanted);
    const members = table.related(ours).filter(isWanted);
    for (const member of members) known.add(nameOf(member));
    return members.map(({ pid, started, group }) => ({
      pid,
      started,
      boot: boot(),
      ...(group !== undefined && { group }),
    }));
  };
}

function realOrSame(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
