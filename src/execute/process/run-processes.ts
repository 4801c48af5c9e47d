/**
 * Everything that a run has running: begun, taken over, ended and found again through here. Whatever
 * descends from a step belongs to the run, also when its step does not know of it any more.
 */
import { randomInt } from 'node:crypto';
import { realpathSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { adopt } from './adopt.ts';
import { boot, isAlive, type ProcessIdentity } from './identity.ts';
import { type Begun, type Launch, launch } from './launch.ts';
import { MARKS, markOf, runKey, type StepMark } from './mark.ts';
import type { ProcessEntry, ProcessSystem } from './process-entry.ts';
import { type Exit, type ProcessRecord, readRecord, stderrOf, stdoutOf } from './record.ts';
import { runsAround } from './runs-around.ts';
import { type Member, type Patience, type Tree, TreeStops } from './stop.ts';
import { system as thisMachine } from './system.ts';
import { belonging, type Known } from './tree.ts';

export interface LaunchedProcess {
  /** Missing when the process could not be made: then `ended` says why. */
  readonly identity?: ProcessIdentity;
  /** For one that was launched here with a pipe. What is written after its end is lost. */
  readonly stdin?: Writable;
  readonly stdoutFile: string;
  readonly stderrFile: string;
  /** Follows the command itself, not what it left in the background. Never rejects. */
  readonly ended: Promise<Exit>;
  /** Ends the whole tree; resolves with what could not be ended. */
  stop(graceMs?: number): Promise<readonly ProcessIdentity[]>;
  /** Ends what the command has left running; to be called once it has ended. */
  endLeftovers(graceMs?: number): Promise<readonly ProcessIdentity[]>;
}

export class RunProcesses {
  readonly #folder: string;
  readonly #system: ProcessSystem;
  readonly #stops: TreeStops;
  /** Those that were launched or adopted here and not ended yet, by the number in their mark. */
  readonly #known = new Map<Tree, number | undefined>();
  #key: string | undefined;
  /** From anywhere, so that numbers of a Raymond before this one seldom come again. */
  #number = randomInt(MARKS);

  /** `folder` is the run's own, or the one of whoever else starts processes. */
  constructor(folder: string, system: ProcessSystem = thisMachine) {
    this.#folder = folder;
    this.#system = system;
    this.#stops = new TreeStops(system);
  }

  /**
   * Runs a command detached, with its output in files, so that it and all it says survive us. Trouble
   * with the command is an `unstarted` end. Throws only when the folder cannot be used.
   */
  launch(wanted: Launch): LaunchedProcess {
    return this.#launched(launch(wanted, () => this.#newMark()));
  }

  /**
   * Takes over the process that a Raymond, perhaps a dead one, launched in this folder, whether it
   * runs or has ended. Nothing is returned when no command ever began here, and none will.
   */
  adopt(folder: string): LaunchedProcess | undefined {
    const begun = adopt(folder);
    return begun && this.#launched(begun);
  }

  /** Ends what the processes that were launched in these folders have left running. */
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
   * Ends what belongs to the run and to none of the processes that were launched or adopted here:
   * background jobs of an agent that has ended, or whatever a Raymond that was killed left running.
   */
  endStrays(graceMs = LEFTOVER_GRACE_MS): Promise<readonly ProcessIdentity[]> {
    return this.#stops.end(
      strays(this.#runKey(), () => this.#known.keys()),
      { terminateMs: graceMs },
    );
  }

  /** What `endStrays` would end. */
  strays(): readonly ProcessIdentity[] {
    return strays(this.#runKey(), () => this.#known.keys()).find(this.#system.survey());
  }

  /** Whether this very process descends from a step of the run. */
  includeUs(): boolean {
    return runsAround().includes(this.#runKey());
  }

  #launched({ folder, record, stdin, ended }: Begun): LaunchedProcess {
    const files = { stdoutFile: stdoutOf(folder), stderrFile: stderrOf(folder) };
    if (!record) return { ...files, ended, stop: async () => [], endLeftovers: async () => [] };
    const tree = stepTree(folder, record);
    this.#known.set(tree, markOf(record.token)?.number);
    // Whoever comes while it is being ended waits for that, and costs no further look.
    let ending: Promise<readonly ProcessIdentity[]> | undefined;
    const end = (patience: Patience) => {
      ending ??= this.#stops.end(tree, patience).finally(() => {
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

  #newMark(): StepMark {
    const taken = new Set(this.#known.values());
    do this.#number = (this.#number + 1) % MARKS;
    while (taken.has(this.#number));
    return { key: this.#runKey(), number: this.#number };
  }

  /** Not before it is needed: the folder is made with the first step. */
  #runKey(): string {
    this.#key ??= runKey(realOrSame(this.#folder), boot());
    return this.#key;
  }
}

/** Those of some runs' folders to which a living process belongs, found with one look. */
export function foldersWithProcesses(folders: readonly string[]): ReadonlySet<string> {
  const table = thisMachine.survey();
  const marks = table.flatMap(({ traces: { tokens, limit } }) => [limit, ...tokens.map(markOf)]);
  const keys = new Set(marks.map((mark) => mark?.key));
  return new Set(folders.filter((folder) => keys.has(runKey(realOrSame(folder), boot()))));
}

/** Whether the command lives that was launched in this folder. */
export function hasLivingProcess(folder: string): boolean {
  const record = readRecord(folder);
  return record !== undefined && isAlive(record.identity);
}

const STOP_GRACE_MS = 5000;
const LEFTOVER_GRACE_MS = 1000;

function stepTree(folder: string, { identity, token }: ProcessRecord): Tree {
  const mark = markOf(token);
  const outputs = [stdoutOf(folder), stderrOf(folder)];
  const isMarked = ({ traces: { tokens, limit, outputs: files } }: ProcessEntry) =>
    tokens.includes(token) ||
    (limit !== undefined && limit.key === mark?.key && limit.number === mark.number) ||
    // Where nobody could be given such a limit, a job without an environment may still be found.
    files.some((file) => outputs.includes(file));
  const find = remembering([identity], isMarked);
  return {
    wrapper: identity,
    since: identity.started,
    find: (table) => (identity.boot === boot() ? find(table) : []),
  };
}

function strays(key: string, spared: () => Iterable<Tree>): Tree {
  const isMarked = ({ traces: { tokens, limit } }: ProcessEntry) =>
    limit?.key === key || tokens.some((token) => markOf(token)?.key === key);
  const find = remembering([], isMarked);
  return {
    since: undefined,
    find: (table) => {
      const others = new Set([...spared()].flatMap((tree) => tree.find(table)).map(nameOf));
      const isStray = (one: Known) => !others.has(nameOf(one));
      // Wrappers first: they must not take our signal for the end of their command, and record it.
      const leaders = new Set(table.filter(({ pid, session }) => pid === session).map(nameOf));
      const rank = (one: Known) => (leaders.has(nameOf(one)) ? 0 : 1);
      return find(table, isStray).toSorted((a, b) => rank(a) - rank(b));
    },
  };
}

/** Finds what is marked and what belongs to it, again and again, and forgets none. */
function remembering(
  roots: readonly Known[],
  isMarked: (entry: ProcessEntry) => boolean,
): (table: readonly ProcessEntry[], isMeant?: (one: Known) => boolean) => readonly Member[] {
  const known = new Set(roots.map(nameOf));
  return (table, isMeant = () => true) => {
    const isOurs = (entry: ProcessEntry) =>
      isMeant(entry) && (known.has(nameOf(entry)) || isMarked(entry));
    const members = belonging(table, isOurs, process.pid).filter(isMeant);
    for (const member of members) known.add(nameOf(member));
    return members.map(({ pid, started, group }) => ({
      pid,
      started,
      boot: boot(),
      ...(group !== undefined && { group }),
    }));
  };
}

const nameOf = ({ pid, started }: Known): string => `${pid} ${started}`;

function realOrSame(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
