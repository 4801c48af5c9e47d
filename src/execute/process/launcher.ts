// One shell per run starts all scripts: see docs/decisions/0033-a-launcher-for-scripts.md. It survives
// this process only as long as it needs to start what it was already asked for.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { boot, identify, living, type ProcessIdentity } from './identity.ts';
import type { Launch } from './launch.ts';
import { MAX_LAUNCH_BYTES, withdraw, writeLaunch } from './launch-file.ts';
import { launcherCode, stepCode } from './launcher-shell.ts';
import { newToken, type StepMark, withToken } from './mark.ts';
import {
  type Exit,
  LEFT,
  type ProcessRecord,
  readExit,
  readRecord,
  UNKNOWN,
  unstartedExit,
} from './record.ts';
import { type Environment, environmentChange, shellEnvironment } from './shell-environment.ts';

/** A command that was handed to the launcher. */
export interface Submission {
  readonly token: string;
  readonly launcher: ProcessIdentity;
  /** Identifies the witness; undefined until it has written its identity. */
  record(): ProcessRecord | undefined;
  /** Withdraws a command that has not begun; returns whether it never will. */
  withdraw(): boolean;
  /** To be called when all of its processes are gone: a witness that was killed reports nothing. */
  conclude(): Promise<void>;
  readonly ended: Promise<SubmissionEnd>;
}

export interface SubmissionEnd {
  readonly exit: Exit;
  /** The group that the command led; undefined if its witness did not report it. */
  readonly group?: number;
  /** The launcher was lost before the command began. It can be launched in another way. */
  readonly isFree?: boolean;
}

interface Pending {
  readonly folder: string;
  readonly command: string;
  record: ProcessRecord | undefined;
  /** How often the watch found that it had not begun. */
  delays: number;
  readonly settle: (end: SubmissionEnd) => void;
}

const WATCH_MS = 1000;
/** A shell remembers something of every child. */
const MOST_STEPS = 5000;
/** A request that no witness has begun after this many looks is withdrawn. */
const MOST_DELAYS = 30;

export class Launcher {
  readonly identity: ProcessIdentity;
  readonly #child: ChildProcess;
  readonly #reports: Socket;
  readonly #requests: Socket;
  readonly #root: string;
  readonly #environment: Environment;
  /** Resolves when the shell has ended. */
  readonly over: Promise<void>;
  /** Resolves when it has also reported all of its commands. */
  readonly idle: Promise<void>;
  #becomeIdle = () => {};
  readonly #pending = new Map<number, Pending>();
  #watch: NodeJS.Timeout | undefined;
  #count = 0;
  #isClosed = false;
  #isOver = false;
  #rest = '';

  /** For steps in a folder, with an environment like this one. Throws when the shell cannot be started. */
  constructor(root: string, env: Environment, mark: StepMark) {
    this.#root = root;
    const token = newToken(mark, randomUUID());
    this.#environment = withToken(shellEnvironment(env), token);
    this.#child = spawn(
      '/bin/bash',
      ['--norc', '-pc', launcherCode(process.platform, mark), 'raymond-launcher', root],
      {
        cwd: '/',
        env: this.#environment,
        detached: true,
        stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
      },
    );
    this.over = new Promise((resolve) => {
      this.#child.once('exit', () => resolve());
      this.#child.once('error', () => resolve());
    });
    this.idle = new Promise((resolve) => {
      this.#becomeIdle = resolve;
    });
    const identity = this.#child.pid === undefined ? undefined : identify(this.#child.pid);
    const [requests, , , reports] = this.#child.stdio;
    if (!identity || !(requests instanceof Socket) || !(reports instanceof Socket))
      throw new Error('The launcher cannot be started.');
    this.identity = identity;
    this.#requests = requests;
    this.#reports = reports;
    this.#listen();
  }

  /** False once it is lost, closed or old: then another one is needed. */
  get isUsable(): boolean {
    return !this.#isClosed && !this.#isOver && this.#count < MOST_STEPS;
  }

  /** Hands over a command, in an existing folder; undefined if the launcher cannot express it. */
  submit(wanted: Launch, mark: StepMark): Submission | undefined {
    const { folder, command, args, cwd, env } = wanted;
    const token = newToken(mark, randomUUID());
    const environment = environmentChange(this.#environment, withToken(env, token));
    if (environment === undefined || [folder, cwd, command, ...args].some(hasNul)) return undefined;
    const id = ++this.#count;
    const code = stepCode(process.platform, { id, mark, environment, cwd, command, args });
    if (code.length > MAX_LAUNCH_BYTES / 4) return undefined;
    writeLaunch(folder, { token, command, boot: boot(), launcher: this.identity.pid }, code);
    return this.#request(id, folder, command, token);
  }

  /** Lets the launcher end; nothing more can be submitted. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#requests.end();
    await Promise.race([this.over, delay(WATCH_MS, undefined, { ref: false })]);
    this.#reports.destroy();
  }

  /** Follows no command any longer, and lets all run: see `RunProcesses.leave`. */
  leave(): void {
    for (const id of [...this.#pending.keys()]) this.#settle(id, { exit: LEFT });
  }

  #request(id: number, folder: string, command: string, token: string): Submission {
    let settle = (_: SubmissionEnd) => {};
    const ended = new Promise<SubmissionEnd>((resolve) => {
      settle = resolve;
    });
    const pending: Pending = { folder, command, record: undefined, delays: 0, settle };
    this.#pending.set(id, pending);
    this.#hold();
    this.#requests.write(`${this.#shortened(folder)}\0`);
    if (!this.isUsable) this.#requests.end();
    return {
      token,
      launcher: this.identity,
      record: () => recordOf(pending),
      ended,
      withdraw: () => {
        if (!this.#pending.has(id) || !isWithdrawable(pending)) return false;
        this.#settle(id, { exit: unstartedExit(0, command) });
        return true;
      },
      conclude: async () => {
        // The next turn of the event loop reads the reports that have already arrived.
        for (let turn = 0; turn < 2; turn++) await nextTurn();
        const record = recordOf(pending);
        this.#settle(id, { exit: (record && readExit(folder, record)) ?? UNKNOWN });
      },
    };
  }

  /** Bash reads what comes through a pipe byte by byte. */
  #shortened(folder: string): string {
    const isBelow = folder.startsWith(`${this.#root}/`);
    return isBelow ? folder.slice(this.#root.length + 1) : folder;
  }

  #listen(): void {
    this.#child.unref();
    this.#requests.on('error', () => {});
    this.#reports.setEncoding('utf8');
    this.#reports.on('error', () => {});
    this.#reports.on('data', (text: string) => this.#read(text));
    void this.over.then(() => {
      this.#isOver = true;
      for (const id of [...this.#pending.keys()]) this.#giveUp(id);
      if (this.#pending.size === 0) this.#becomeIdle();
    });
    this.#letGo();
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const [id, kind, code, group] = line.split(' ');
      const pending = this.#pending.get(Number(id));
      if (!pending) continue;
      if (kind === 'exited')
        this.#settle(Number(id), { exit: { kind, code: Number(code) }, group: Number(group) });
      else this.#settle(Number(id), { exit: unstartedExit(Number(code), pending.command) });
    }
  }

  /** Withdraws a command of a launcher that does not start it; a begun one keeps its witness. */
  #giveUp(id: number): void {
    const pending = this.#pending.get(id);
    if (!pending || !isWithdrawable(pending)) return;
    this.#settle(id, { exit: unstartedExit(0, pending.command), isFree: true });
  }

  #settle(id: number, end: SubmissionEnd): void {
    this.#pending.get(id)?.settle(end);
    this.#pending.delete(id);
    if (this.#pending.size > 0) return;
    this.#letGo();
    if (this.#isOver) this.#becomeIdle();
  }

  /** A witness that was killed reports nothing. */
  #lookAfterWitnesses(): void {
    const begun: {
      readonly id: number;
      readonly pending: Pending;
      readonly record: ProcessRecord;
    }[] = [];
    for (const [id, pending] of this.#pending) {
      const record = recordOf(pending);
      if (record) begun.push({ id, pending, record });
      else if (++pending.delays > MOST_DELAYS) this.#giveUp(id);
    }
    const alive = new Set(living(begun.map(({ record }) => record.identity)).map(({ pid }) => pid));
    for (const { id, pending, record } of begun) {
      if (alive.has(record.identity.pid)) continue;
      this.#settle(id, { exit: readExit(pending.folder, record) ?? UNKNOWN });
    }
  }

  /** Keeps this process running while it waits for reports. */
  #hold(): void {
    if (this.#watch) return;
    this.#watch = setInterval(() => this.#lookAfterWitnesses(), WATCH_MS);
    this.#reports.ref();
  }

  #letGo(): void {
    clearInterval(this.#watch);
    this.#watch = undefined;
    this.#reports.unref();
    this.#requests.unref();
  }
}

const hasNul = (text: string) => text.includes('\0');

/** In a missing folder, it is unknown whether the command has begun. */
function isWithdrawable(pending: Pending): boolean {
  try {
    return recordOf(pending) === undefined && withdraw(pending.folder);
  } catch {
    return false;
  }
}

function recordOf(pending: Pending): ProcessRecord | undefined {
  pending.record ??= readRecord(pending.folder);
  return pending.record;
}
