/**
 * All processes of a run are launched, adopted, stopped and found through `RunProcesses`. Every
 * descendant of a step belongs to the run, even after the step has lost track of it.
 */
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { FileIdentity, OwnFile } from '../../files/own-file.ts';
import { realOrSame } from '../../files/regular-file.ts';
import { confined } from '../rights/confined.ts';
import { type StepSeals, stepSeals } from '../steps/step-seals.ts';
import { adopt } from './adopt.ts';
import { fifoOf } from './fifo.ts';
import { boot, identify, type ProcessIdentity, self } from './identity.ts';
import { type Launch, launch, needFolder, type ProcessHandle, writeInput } from './launch.ts';
import { type MadeFiles, sandboxIn } from './launch-file.ts';
import type { Place } from './launcher.ts';
import { Launchers } from './launchers.ts';
import { enclosingRuns } from './living-processes.ts';
import { LAUNCHER_NUMBER, MARKS, markOf, runKey, type StepMark } from './mark.ts';
import { nameOf, type ProcessSystem } from './process-entry.ts';
import { ProcessTable } from './process-table.ts';
import {
  type Exit,
  foldersWithRecords,
  type ProcessRecord,
  readRecord,
  stderrOf,
  stdoutOf,
  unstartedBy,
} from './record.ts';
import { makeFiles, SpareFolders } from './spare-folders.ts';
import { type GracePeriods, type Tree, TreeStops } from './stop.ts';
import { system as thisMachine } from './system.ts';
import { launcherTree, stepTree, strays } from './trees.ts';
import type { Submission } from './witness.ts';

export interface LaunchedProcess {
  /** Missing before the process has begun, and when it could not: then `ended` gives the reason. */
  readonly identity?: ProcessIdentity | undefined;
  /** Only for a process launched here with a pipe. Text written after its end is lost. */
  readonly stdin?: Writable;
  /** In place of `stdin` for a process whose input is a FIFO, also an adopted one. It has no end. */
  readonly fifo?: Writable;
  /** Reading them fails if others have replaced the files that this process writes. */
  readonly stdout: OwnFile;
  readonly stderr: OwnFile;
  /** Resolves when the command ends, even if its background jobs still run. Never rejects. */
  readonly ended: Promise<Exit>;
  /** Ends the whole tree; resolves with the processes that could not be ended. */
  stop(graceMs?: number): Promise<readonly ProcessIdentity[]>;
  /** Ends the processes that the command left running; call it after the command has ended. */
  endLeftovers(graceMs?: number): Promise<readonly ProcessIdentity[]>;
  /**
   * Leaves the process to a later Raymond process, which can adopt it. From now on this one does not
   * follow or end it. If it still runs, `ended` resolves with `left`.
   */
  leave?(): void;
}

/** A command that can begin soon. One of the two must be called, once. */
export interface PreparedLaunch {
  /** See `RunProcesses.submit`. */
  submit(): LaunchedProcess;
  /** It will not begin. */
  cancel(): void;
}

interface RunProcessesOptions {
  readonly system?: ProcessSystem;
  readonly key?: Buffer;
  /** The run begins in this process, so no process of it is older. */
  readonly isNew?: boolean;
}

export class RunProcesses {
  /** For the files from which a later process learns about a step. */
  readonly seals: StepSeals;
  readonly #folder: string;
  readonly #system: ProcessSystem;
  readonly #stops: TreeStops;
  /** The trees that were launched or adopted here and have not ended, with the number in their mark. */
  readonly #known = new Map<Tree, number | undefined>();
  readonly #numbersInUse = new Set<number | undefined>();
  readonly #launchers: Launchers;
  #spares: SpareFolders | undefined;
  readonly #leaves = new Set<() => void>();
  #isLeft = false;
  #isNew: boolean;
  #key: string | undefined;
  #real: string | undefined;
  /** Begins at random, so that numbers of an earlier Raymond process are rarely reused. */
  #number = randomInt(MARKS);

  /**
   * `folder` is the run's folder, or another one that identifies the owner of the processes. Other
   * processes can adopt the steps of this one if they have the same key.
   */
  constructor(
    folder: string,
    { system = thisMachine, key, isNew = false }: RunProcessesOptions = {},
  ) {
    this.#folder = folder;
    this.#isNew = isNew;
    this.#system = system;
    this.seals = stepSeals(folder, key);
    this.#stops = new TreeStops(system);
    this.#launchers = new Launchers({
      common: () => ({
        root: this.#realFolder(),
        mark: { key: this.#runKey(), number: LAUNCHER_NUMBER },
        spareFolder: () => this.#spareFolder(),
        seals: this.seals,
      }),
      started: (identity, over) => {
        const tree = launcherTree(identity);
        this.#known.set(tree, undefined);
        void over.then(() => this.#known.delete(tree));
      },
    });
  }

  /**
   * Runs a command detached, with its output in files, so that both survive this process. A command
   * that cannot be started ends as `unstarted`. Throws only when the folder cannot be used.
   */
  launch(wanted: Launch): LaunchedProcess {
    this.#checkOurs();
    return this.#launched(launch(confined(wanted), this.seals, () => this.#newMark()));
  }

  /**
   * Like `launch`, but the launcher of the run starts the command, which is much cheaper. The output
   * files appear when it begins. For commands without standard input.
   */
  submit(wanted: Launch): LaunchedProcess {
    return this.prepare(wanted).submit();
  }

  /** Does the part of `submit` that has no effect by itself, so that the rest takes less time. */
  prepare(given: Launch): PreparedLaunch {
    this.#checkOurs();
    const wanted = confined(given);
    this.#spares ??= new SpareFolders(join(this.#folder, 'spare'), () => !this.#hasSurvivors());
    const place = this.#place(wanted);
    const ahead = place?.prepared;
    const files = ahead === undefined ? undefined : this.#spares.filesIn(ahead);
    const begin =
      ahead !== undefined && files ? this.#written(place, ahead, files, wanted) : undefined;
    return {
      submit: () => this.#submit(wanted, place, begin),
      cancel: () => place?.cancel(),
    };
  }

  /** Ends the launcher. The commands that it has started continue. */
  async close(): Promise<void> {
    const spares = this.#spares;
    this.#spares = undefined;
    await this.#launchers.close();
    spares?.close();
  }

  /**
   * Takes over the process that an earlier Raymond process launched in this folder, whether it runs
   * or has ended. Returns undefined if no command began in this folder and none will, and `foreign` if
   * something is there that Raymond did not write for this step. Then `endStrays` finds its processes.
   */
  adopt(folder: string): LaunchedProcess | 'foreign' | undefined {
    this.#checkOurs();
    this.#isNew = false;
    const begun = adopt(this.seals, folder);
    if (begun === undefined && this.#hasWriter(folder)) return 'foreign';
    return typeof begun === 'object' ? this.#launched(begun) : begun;
  }

  /**
   * Whether a command writes to the output of a folder, although its record is gone. A wrapper without a
   * record leads its session, and will not begin its command.
   */
  #hasWriter(folder: string): boolean {
    if (!existsSync(stdoutOf(folder))) return false;
    const real = realpathSync(folder);
    const table = new ProcessTable(this.#system.survey());
    const writers = table.marked('', [stdoutOf(real), stderrOf(real)]);
    return writers.some(({ pid, session }) => pid !== session);
  }

  /**
   * Ends all processes that are left of the steps in these folders. Others may have written the records,
   * so a process must bear the marks of this run.
   */
  async endSteps(
    folders: readonly string[],
    graceMs = LEFTOVER_GRACE_MS,
  ): Promise<readonly ProcessIdentity[]> {
    const trees = folders.flatMap((folder) => {
      const record = readRecord(folder);
      if (!record || markOf(record.token)?.key !== this.#runKey()) return [];
      const { token, identity, launcher } = record;
      const hasMarks = process.platform !== 'win32';
      const wrapper = () => (hasMarks || record.isOver ? undefined : identity);
      return stepTree({ folder: realpathSync(folder), token, wrapper, since: identity, launcher });
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
    const since = this.#isNew ? self().started : undefined;
    const tree = this.#whileOurs(strays(this.#runKey(), () => this.#known.keys(), since));
    return this.#stops.end(tree, { terminateMs: graceMs });
  }

  /**
   * Gives up the processes, because another Raymond process has adopted them. From now on this object
   * follows, ends and launches no process. Processes that still run end as `left`.
   */
  leave(): void {
    this.#isLeft = true;
    for (const leave of this.#leaves) leave();
    this.#launchers.leave();
  }

  /** Whether another Raymond process has adopted the processes. */
  get isLeft(): boolean {
    return this.#isLeft;
  }

  /** The processes that `endStrays` would end. */
  strays(): readonly ProcessIdentity[] {
    return strays(this.#runKey(), () => this.#known.keys()).find(
      new ProcessTable(this.#system.survey()),
    );
  }

  /**
   * Takes over the folder of an old step, to use it again. Returns false if the caller has to remove
   * it.
   */
  takeOver(folder: string): boolean {
    return !this.#isLeft && (this.#spares?.takeOver(folder) ?? false);
  }

  /** The folders of all steps that have a record of a process, for a run whose journal is damaged. */
  recordedSteps(): readonly string[] {
    return foldersWithRecords(this.#folder);
  }

  /** Whether this process descends from a step of the run. */
  includeThisProcess(): boolean {
    return enclosingRuns().includes(this.#runKey());
  }

  /** Whether this process belongs to a step of any run. */
  includeAnyRun(): boolean {
    return enclosingRuns().length > 0;
  }

  #launched({ folder, record, stdin, fifo, ended, leave }: ProcessHandle): LaunchedProcess {
    const files = outputsIn(folder, record?.files);
    if (fifo) void ended.then((exit) => closeFifo(fifo, folder, exit));
    if (!record) return { ...files, ended, stop: async () => [], endLeftovers: async () => [] };
    this.#leaves.add(leave);
    void ended.then(() => this.#leaves.delete(leave));
    const { end } = this.#remember(recordedTree(folder, record), record.token);
    let isLeft = false;
    const endUnlessLeft = async (grace: GracePeriods) => (isLeft ? [] : end(grace));
    return {
      identity: record.identity,
      ...(stdin && { stdin }),
      ...(fifo && { fifo }),
      ...files,
      ended,
      stop: (graceMs) => endUnlessLeft(stopping(graceMs)),
      endLeftovers: (graceMs) => endUnlessLeft(clearing(graceMs)),
      leave: () => {
        isLeft = true;
        leave();
      },
    };
  }

  #submitted(wanted: Launch, folder: string, submission: Submission): LaunchedProcess {
    const { token, launcher, files } = submission;
    const wrapper = () => submission.record()?.identity;
    const step = { folder, token, wrapper, since: launcher, launcher: launcher.pid };
    const { end, forget, isEnding } = this.#remember(stepTree(step), token);
    let isStopped = false;
    // Then its witness may have another command.
    let isOver = false;
    const finish = () => {
      isOver = true;
      forget();
      submission.release();
    };
    const endAll = (grace: GracePeriods) => {
      if (isOver) return [];
      submission.dismiss();
      return end(grace);
    };
    // Takes the place of a command that its launcher has lost.
    let second: LaunchedProcess | undefined;
    const outputs = outputsIn(folder, files);
    const ended = submission.ended.then(({ exit, isFree }) => {
      if (isFree || exit.kind === 'unstarted') finish();
      if (!isFree || isStopped || this.#isLeft) return exit;
      second = this.launch(wanted);
      return second.ended;
    });
    return {
      get identity() {
        return second ? second.identity : wrapper();
      },
      get stdout() {
        return second ? second.stdout : outputs.stdout;
      },
      get stderr() {
        return second ? second.stderr : outputs.stderr;
      },
      ended: ended.catch(unstartedBy),
      stop: async (graceMs) => {
        isStopped = true;
        if (second) return second.stop(graceMs);
        if (!this.#isLeft && submission.withdraw()) return [];
        return endAll(stopping(graceMs));
      },
      endLeftovers: async (graceMs) => {
        if (second) return second.endLeftovers(graceMs);
        const { leavesNothing } = await submission.ended;
        const isAlone = leavesNothing || (wanted.endsWhole && (await hasEnded(folder, files.end)));
        if (!isAlone || isEnding()) return endAll(clearing(graceMs));
        finish();
        return [];
      },
    };
  }

  /** `begin` is known if the command is already in the folder in which its witness waits. */
  #submit(wanted: Launch, place: Place | undefined, begin: Begin | undefined): LaunchedProcess {
    this.#checkOurs();
    let submission: Submission | undefined;
    try {
      const ready = place && !place.isLost ? this.#ready(wanted, place, begin) : undefined;
      if (ready) {
        const folder = this.#realStepFolder(wanted.folder);
        submission = ready(folder);
        return this.#submitted(wanted, folder, submission);
      }
    } finally {
      if (!submission) place?.cancel();
    }
    return this.launch(wanted);
  }

  /** Makes the folder of the step, with the command in it. Undefined if that is not possible. */
  #ready(wanted: Launch, place: Place, begin: Begin | undefined): Begin | undefined {
    const { folder } = wanted;
    if (place.prepared !== undefined)
      return begin && this.#spares?.move(place.prepared, folder) ? begin : undefined;
    const files = this.#spares?.take(folder) ?? (isMade(folder) ? makeFiles(folder) : undefined);
    return files && this.#written(place, this.#realStepFolder(folder), files, wanted);
  }

  /**
   * Undefined if the command must be launched with a wrapper, which also reports what is wrong. A folder
   * that exists is left from a crash: a witness may still look for a command in it.
   */
  #place({ folder, env, stdin, isPrivate }: Launch): Place | undefined {
    // The launcher gets its commands in files.
    if (isPrivate) return undefined;
    if (process.platform === 'win32' || stdin !== 'none' || existsSync(folder)) return undefined;
    try {
      return this.#launchers.reserve(env);
    } catch {
      return undefined;
    }
  }

  /** Writes the command into a folder of its own, if the launcher can express it. */
  #written(
    place: Place | undefined,
    where: string,
    files: MadeFiles,
    wanted: Launch,
  ): Begin | undefined {
    try {
      needFolder(wanted);
      writeInput(where, wanted);
      return place?.write(where, files, wanted, this.#newMark());
    } catch {
      return undefined;
    }
  }

  /** Spares the tree from `endStrays` until it has been ended. */
  #remember(step: Tree, token: string) {
    const tree = this.#whileOurs(step);
    const number = markOf(token)?.number;
    this.#known.set(tree, number);
    this.#numbersInUse.add(number);
    // Callers that come while the tree is being ended share the same ending.
    let ending: Promise<readonly ProcessIdentity[]> | undefined;
    const forget = () => {
      if (this.#known.delete(tree)) this.#numbersInUse.delete(number);
    };
    const end = async (grace: GracePeriods) => {
      if (this.#isLeft) return [];
      ending ??= this.#stops.end(tree, grace).finally(() => {
        ending = undefined;
        forget();
      });
      return ending;
    };
    return { end, forget, isEnding: () => ending !== undefined };
  }

  /**
   * Whether a process has outlived its step, or writes to a file of this run. Processes that are older
   * than this one were ended when the run was resumed.
   */
  #hasSurvivors(): boolean {
    const table = new ProcessTable(this.#system.survey(self().started));
    if (strays(this.#runKey(), () => this.#known.keys()).find(table).length > 0) return true;
    const known = new Set([...this.#known.keys()].flatMap((tree) => tree.find(table)).map(nameOf));
    const isInside = (file: string) => file.startsWith(`${this.#realFolder()}/`);
    return table.entries.some(
      (one) => one.traces.outputs.some(isInside) && !known.has(nameOf(one)),
    );
  }

  #checkOurs(): void {
    if (this.#isLeft)
      throw new Error('The processes of this run belong to another Raymond process.');
  }

  /** Also stops an ending that has already begun. */
  #whileOurs(tree: Tree): Tree {
    return {
      get wrapper() {
        return tree.wrapper;
      },
      since: tree.since,
      find: (table) => (this.#isLeft ? [] : tree.find(table)),
    };
  }

  #newMark(): StepMark {
    do this.#number = (this.#number + 1) % MARKS;
    while (this.#number === LAUNCHER_NUMBER || this.#numbersInUse.has(this.#number));
    return { key: this.#runKey(), number: this.#number };
  }

  /** Computed on first use: the folder is created with the first step. */
  #runKey(): string {
    this.#key ??= runKey(this.#realFolder(), boot());
    return this.#key;
  }

  #realFolder(): string {
    this.#real ??= realOrSame(this.#folder);
    return this.#real;
  }

  #spareFolder(): string | undefined {
    const spare = this.#isLeft ? undefined : this.#spares?.lend();
    return spare && this.#realStepFolder(spare);
  }

  /** A new folder below the run's own has no links to resolve. */
  #realStepFolder(path: string): string {
    const isOwn = path.startsWith(`${this.#folder}/`);
    return isOwn ? this.#realFolder() + path.slice(this.#folder.length) : realpathSync(path);
  }
}

/** Whether the sandbox of a command ends within a moment. The system may not reap its process at once. */
async function hasEnded(folder: string, launchFile: FileIdentity): Promise<boolean> {
  const first = sandboxIn(folder, launchFile);
  if (first === undefined) return false;
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    if (identify(first) === undefined) return true;
    await delay(1);
  }
  return false;
}

const MOST_LOOKS = 200;

/** A FIFO without a process is removed: other programs that read the folder would wait for it. */
function closeFifo(fifo: Writable, folder: string, exit: Exit): void {
  if (exit.kind === 'left') {
    // What was written still reaches the process.
    fifo.end();
    return;
  }
  fifo.destroy();
  rmSync(fifoOf(folder), { force: true });
}

type Begin = (folder: string) => Submission;

/** Whether the folder is new. */
function isMade(path: string): boolean {
  return mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined;
}

const STOP_GRACE_MS = 5000;
const LEFTOVER_GRACE_MS = 1000;

const stopping = (graceMs = STOP_GRACE_MS): GracePeriods => ({
  interruptMs: graceMs,
  terminateMs: graceMs / 5,
});
const clearing = (graceMs = LEFTOVER_GRACE_MS): GracePeriods => ({ terminateMs: graceMs });

/** A process that never began has no files. */
const outputsIn = (folder: string, files?: MadeFiles) => ({
  stdout: { path: stdoutOf(folder), identity: files?.stdout ?? '' },
  stderr: { path: stderrOf(folder), identity: files?.stderr ?? '' },
});

function recordedTree(folder: string, record: ProcessRecord): Tree {
  const { identity, token, launcher, isOver } = record;
  const wrapper = () => (isOver ? undefined : identity);
  return stepTree({ folder, token, wrapper, since: identity, launcher });
}
