// Starts scripts through a shell that forks quickly. Decision 33 has the reasons and the measurements.
//
//   Raymond ──────────────── one socket per witness, the channel ─────────────┐
//      │                                                                      │
//      │ 0: numbers of channels                                               │
//      ▼                                                                      ▼
//   launcher ── fork ──> witness ──────────── fork ──> child ── exec ──> script
//   bash, own session    own group                     own group
//   0: from Raymond      0: its channel                8: the channel    0: /dev/null
//   1, 2: /dev/null      1, 4, 5: `launch`             5: `launch`       1: `stdout`
//   3...: channels       6: `stdout`, 7: `stderr`      0, 1, 2: as       2: `stderr`
//                        2: /dev/null                  the script
//
// The launcher forks a witness for each number that it reads, and closes its copy of the channel. A
// witness takes one command after the other, and opens the files of each in the folder of its step. Each
// command takes three messages to the witness: the folder, "the code is there", "begin" (`launcherCode`
// in `launcher-shell.ts`, `prepare`, `ready` and `take` in `witness.ts`). A report comes back: how the command
// ended, and whether its group has members left. The file `launch` has the same for whoever adopts the step:
// its first line is empty, then `began` with the witness's pid and start time, then `exited` with the code
// (`launch-file.ts`).
//
// What happens if someone kills (kill -9) one of them:
//
//   Raymond    All of its sockets close. The launcher ends, and so does a child that waits: its command never
//              begins. A witness records the end of its command, and ends. The next Raymond process reads `launch`.
//   launcher   Its witnesses continue. The next script that finds none free gets another launcher.
//   witness    Its channel closes. A command that has not begun is withdrawn, and gets a wrapper. The end of a
//              command that has begun is unknown, and its processes are found by their marks (`mark.ts`).
//   child      The witness finds a first line without `began`, and ends: see above.
//   script     The witness records the exit code 137.
//
// An agent, and a command that bash cannot express, gets a wrapper of its own (`wrapper.ts`):
//
//   Raymond ── 3: a pipe, the gate ──> wrapper ── fork ──> command
//                                      own session         own group
//                                                          0: FIFO, pipe or file, 1: `stdout`, 2: `stderr`
//
// The wrapper waits at the gate until Raymond has written `process.json`, and records the end in `exit-<pid>`. If
// Raymond dies before, the gate closes and the command never begins. If the wrapper dies, the end is unknown.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { StepSeals } from '../steps/step-seals.ts';
import { boot, identify, type ProcessIdentity } from './identity.ts';
import type { Launch } from './launch.ts';
import { MAX_LAUNCH_BYTES, type MadeFiles, type ProcessFiles, writeLaunch } from './launch-file.ts';
import { FIRST_CHANNEL, launcherCode, stepCode } from './launcher-shell.ts';
import { newToken, type StepMark, tokenIn, withToken } from './mark.ts';
import {
  type Environment,
  type EnvironmentChange,
  environmentChange,
  shellEnvironment,
  withVariables,
} from './shell-environment.ts';
import { type Request, type Submission, Witness } from './witness.ts';

const WATCH_MS = 1000;
/** A shell remembers something of every child. */
const MOST_STEPS = 5000;
/** How many witnesses may wait for a command for longer than a moment. */
const MOST_WAITING = 4;

export interface LauncherParts {
  /** The folder around all steps. */
  readonly root: string;
  /** The environments of the commands are like this one. */
  readonly env: Environment;
  readonly mark: StepMark;
  /** How many commands it can run at the same time. */
  readonly witnesses: number;
  /** A folder with empty files for the next command of a witness, if one is ready. */
  readonly spareFolder: () => string | undefined;
  readonly seals: StepSeals;
}

/** A witness that is kept for a command. */
export interface Place {
  /** The folder in which the witness waits. It can become the step's folder if it is renamed. */
  readonly prepared: string | undefined;
  /** The witness has died. */
  readonly isLost: boolean;
  /**
   * Writes a command into the prepared folder, or into the step's own one, which has these files. Returns
   * a function that lets it begin, in the step's folder; undefined if the launcher cannot express the
   * command.
   */
  write(
    where: string,
    files: MadeFiles,
    wanted: Launch,
    mark: StepMark,
  ): ((folder: string) => Submission) | undefined;
  /** To be called if nothing is submitted. */
  cancel(): void;
}

export class Launcher {
  readonly identity: ProcessIdentity;
  readonly #child: ChildProcess;
  readonly #control: Socket;
  readonly #root: string;
  readonly #spareFolder: () => string | undefined;
  readonly #seals: StepSeals;
  readonly #environment: Environment;
  #change:
    | { readonly env: Environment; readonly change: EnvironmentChange | undefined }
    | undefined;
  /** The channels that have no witness yet. */
  readonly #channels: Socket[];
  readonly #witnesses = new Set<Witness>();
  /** At most one of them is prepared, unless several commands have ended together. */
  #free: Witness[] = [];
  #isPreparing = false;
  /** The free witnesses that the watch has already seen. */
  #rested = new Set<Witness>();
  readonly #watch: NodeJS.Timeout;
  /** Resolves when the shell has ended. */
  readonly over: Promise<void>;
  /** The witnesses that are kept for commands. */
  #reserved = 0;
  #commands = 0;
  #count = 0;
  #isClosed = false;
  #isOver = false;

  /** Throws when the shell cannot be started. */
  constructor(parts: LauncherParts) {
    const { root, env, mark, witnesses } = parts;
    this.#root = root;
    this.#spareFolder = parts.spareFolder;
    this.#seals = parts.seals;
    this.#environment = withToken(shellEnvironment(env), newToken(mark, randomUUID()));
    const code = launcherCode(process.platform, mark, witnesses);
    this.#child = spawn('/bin/bash', ['--norc', '-pc', code, 'raymond-launcher'], {
      cwd: root,
      env: this.#environment,
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore', ...Array<'pipe'>(witnesses).fill('pipe')],
    });
    this.over = new Promise((resolve) => {
      this.#child.once('exit', () => resolve());
      this.#child.once('error', () => resolve());
    });
    const sockets = this.#child.stdio.filter((stream) => stream instanceof Socket);
    const [control, ...channels] = sockets;
    const identity = this.#child.pid === undefined ? undefined : identify(this.#child.pid);
    if (!identity || !control || channels.length < witnesses) {
      for (const socket of sockets) socket.destroy();
      throw new Error('The launcher cannot be started.');
    }
    this.identity = identity;
    this.#control = control;
    this.#channels = channels;
    this.#child.unref();
    for (const socket of sockets) socket.on('error', () => {}).unref();
    this.#watch = setInterval(() => this.#look(), WATCH_MS).unref();
    void this.over.then(() => {
      this.#isOver = true;
    });
  }

  /** False if another one is needed: all of its witnesses have commands, or it is lost, closed or old. */
  get isUsable(): boolean {
    if (this.#isClosed || this.#count >= MOST_STEPS) return false;
    this.#free = this.#free.filter(({ isFree }) => isFree);
    return this.#free.length > 0 || (!this.#isOver && this.#hasChannel());
  }

  /** When the shell dies, its channels may close before its end is known. */
  #hasChannel(): boolean {
    return this.#channels[0]?.closed === false;
  }

  /** False if it has no commands, keeps no witness for one, and will have none. */
  get isNeeded(): boolean {
    return this.#reserved > 0 || this.#commands > 0 || this.isUsable;
  }

  /** Keeps a witness for a command, if possible a prepared one. Throws when there is none: see `isUsable`. */
  reserve(): Place {
    const index = this.#free.findLastIndex(({ prepared }) => prepared !== undefined);
    const [witness = this.#newWitness()] = this.#free.splice(index, 1);
    const { prepared } = witness;
    this.#reserved += 1;
    return {
      prepared,
      get isLost() {
        return witness.isOver;
      },
      write: (where, files, wanted, mark) => {
        const own = { ...files, success: witness.success };
        const written = this.#write(where, own, wanted, mark);
        if (written && prepared !== undefined) witness.ready();
        return written && ((folder) => this.#submit(witness, { ...written, folder }));
      },
      cancel: () => {
        this.#reserved -= 1;
        // Its child waits in a folder that may have another use now.
        if (prepared !== undefined) witness.dismiss();
        else this.#free.push(witness);
      },
    };
  }

  #write(
    where: string,
    files: ProcessFiles,
    wanted: Launch,
    mark: StepMark,
  ): Omit<Request, 'folder'> | undefined {
    const { folder, command, args, cwd, env, variables, filter, endsWhole } = wanted;
    const token = newToken(mark, randomUUID());
    const common = this.#changeTo(env);
    const own = { ...variables, ...tokenIn(env, token) };
    const environment = common && withVariables(common, own);
    if (environment === undefined || [folder, cwd, command, ...args].some(hasNul)) return undefined;
    const step = { mark, environment, cwd, command, args, filter, endsWhole };
    const code = stepCode(process.platform, step);
    if (code.length > MAX_LAUNCH_BYTES / 4) return undefined;
    const note = { token, command, boot: boot(), launcher: this.identity.pid, files };
    writeLaunch(this.#seals, { file: where, sealedFor: folder }, note, code);
    return { command, token, launcher: this.identity, files };
  }

  #submit(witness: Witness, request: Request): Submission {
    this.#reserved -= 1;
    const submission = witness.take(request, this.#shortened(request.folder));
    this.#begin(submission);
    this.#prepareLater();
    return {
      ...submission,
      release: () => {
        submission.release();
        if (!witness.isFree) return;
        this.#free.push(witness);
        this.#prepareOne();
      },
    };
  }

  /**
   * Between the end of a command and the next one, a fork would slow down everything that the next one
   * waits for. So another witness forks the child for the next command while this one runs.
   */
  #prepareLater(): void {
    if (this.#isPreparing || this.#count < 2) return;
    this.#isPreparing = true;
    setImmediate(() => {
      this.#isPreparing = false;
      if (this.#free.length === 0 && this.isUsable) this.#free.push(this.#newWitness());
      this.#prepareOne();
    });
  }

  /** Lets a free witness prepare for its next command, unless one has done so. */
  #prepareOne(retry: 'retry' | 'once' = 'retry'): void {
    const witness = this.#free.at(-1);
    if (this.#isClosed || !witness || this.#free.some(({ prepared }) => prepared !== undefined))
      return;
    const folder = this.#spareFolder();
    if (folder !== undefined) witness.prepare(folder, this.#shortened(folder));
    // A folder is made in the next turn of the event loop, because one was asked for.
    else if (retry === 'retry') setImmediate(() => this.#prepareOne('once'));
  }

  /** Lets the launcher and its witnesses end; nothing more can be submitted. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#watch);
    this.#control.end();
    const witnesses = [...this.#witnesses];
    for (const witness of witnesses) witness.dismiss();
    const ending = witnesses.filter(({ hasCommand }) => !hasCommand).map(({ over }) => over);
    await Promise.race([
      Promise.all([this.over, ...ending]),
      delay(WATCH_MS, undefined, { ref: false }),
    ]);
    for (const socket of [this.#control, ...this.#channels]) socket.destroy();
    for (const witness of witnesses) witness.destroy();
  }

  /** Follows no command any longer, and lets all run: see `RunProcesses.leave`. */
  leave(): void {
    for (const witness of this.#witnesses) witness.leave();
  }

  /** Computed once for the commands of a run, whose environments have most variables in common. */
  #changeTo(env: Environment): EnvironmentChange | undefined {
    if (this.#change?.env !== env)
      this.#change = { env, change: environmentChange(this.#environment, env) };
    return this.#change.change;
  }

  #newWitness(): Witness {
    const number = FIRST_CHANNEL + this.#witnesses.size;
    const channel = this.#hasChannel() ? this.#channels.shift() : undefined;
    if (!channel) throw new Error('The launcher has no free witness.');
    const witness = new Witness(channel);
    this.#witnesses.add(witness);
    this.#control.write(`${number}\n`);
    return witness;
  }

  #begin(submission: Submission): void {
    this.#count += 1;
    this.#commands += 1;
    // Keeps this process running while it waits for a report.
    this.#watch.ref();
    void submission.ended.then(() => {
      this.#commands -= 1;
      if (this.#commands === 0) this.#watch.unref();
    });
  }

  /** Bash reads what comes through a pipe byte by byte. */
  #shortened(folder: string): string {
    const isBelow = folder.startsWith(`${this.#root}/`);
    return isBelow ? folder.slice(this.#root.length + 1) : folder;
  }

  #look(): void {
    for (const witness of this.#witnesses) witness.lookAfter();
    const rested = this.#free.filter((witness) => this.#rested.has(witness));
    for (const witness of rested.slice(MOST_WAITING)) witness.dismiss();
    this.#rested = new Set(this.#free);
  }
}

const hasNul = (text: string) => text.includes('\0');
