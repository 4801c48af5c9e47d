// A shell that the launcher has forked. It runs one command after another, and reports how each ended.
// When its channel closes, it has died.
import type { Socket } from 'node:net';
import type { ProcessIdentity } from './identity.ts';
import { type ProcessFiles, readLaunch, withdraw } from './launch-file.ts';
import {
  type Exit,
  LEFT,
  launchRecord,
  type OwnRecord,
  readExit,
  UNKNOWN,
  unstartedExit,
} from './record.ts';
import { hashOfWord, newWord } from './success-word.ts';

/** A command that was handed to a witness. */
export interface Submission {
  readonly token: string;
  readonly launcher: ProcessIdentity;
  /** Identifies the witness; undefined until it has written its identity. */
  record(): OwnRecord | undefined;
  readonly files: ProcessFiles;
  /** Withdraws a command that has not begun; returns whether it never will. */
  withdraw(): boolean;
  /** Lets the witness end after this command. Needed before its processes are looked for. */
  dismiss(): void;
  /** To be called when the command has ended without leftovers: its witness can take another one. */
  release(): void;
  readonly ended: Promise<SubmissionEnd>;
}

interface SubmissionEnd {
  readonly exit: Exit;
  /** The witness has found that no process is left in the group of the command. */
  readonly leavesNothing?: boolean;
  /** The witness was lost before the command began. It can be launched in another way. */
  readonly isFree?: boolean;
}

export interface Request {
  readonly folder: string;
  readonly command: string;
  readonly token: string;
  readonly launcher: ProcessIdentity;
  readonly files: ProcessFiles;
}

/** A command that no witness has begun after this many looks is withdrawn. */
const MOST_DELAYS = 30;

interface Pending extends Request {
  record: OwnRecord | undefined;
  /** How often it was found not to have begun. */
  delays: number;
  readonly settle: (end: SubmissionEnd) => void;
}

export class Witness {
  readonly #channel: Socket;
  #prepared: string | undefined;
  #isReady = false;
  #word = newWord();
  #pending: Pending | undefined;
  #isReserved = false;
  #isDismissed = false;
  #isOver = false;
  #text = '';
  /** Resolves when it has died or ended. */
  readonly over: Promise<void>;

  constructor(channel: Socket) {
    this.#channel = channel;
    channel.setEncoding('utf8');
    channel.on('error', () => {});
    channel.on('data', (text: string) => this.#read(text));
    channel.unref();
    this.over = new Promise((resolve) => {
      channel.once('close', () => {
        this.#lose();
        resolve();
      });
    });
  }

  get isFree(): boolean {
    return !this.#isReserved && !this.#isDismissed && !this.#isOver;
  }

  get hasCommand(): boolean {
    return this.#pending !== undefined;
  }

  /** The folder in which a child waits for the next command. */
  get prepared(): string | undefined {
    return this.#prepared;
  }

  /** The hash of the word with which it records the success of its next command. */
  get success(): string {
    return hashOfWord(this.#word);
  }

  /** It has died or ended. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Lets it fork the child for its next command. `path` is the folder as the witness shall find it. */
  prepare(folder: string, path: string): void {
    this.#prepared = folder;
    this.#channel.write(`${this.#word}:${path}\0`);
  }

  /** Lets the child read the code of its command. It does not begin before `take`. */
  ready(): void {
    this.#isReady = true;
    this.#channel.write('\0');
  }

  /**
   * Gives it a command. `path` is the step's folder as the witness shall find it. The prepared folder
   * must have been renamed to it.
   */
  take(request: Request, path: string): Submission {
    const { token, launcher, command, files } = request;
    let settle = (_: SubmissionEnd) => {};
    const ended = new Promise<SubmissionEnd>((resolve) => {
      settle = resolve;
    });
    const pending: Pending = { ...request, record: undefined, delays: 0, settle };
    this.#pending = pending;
    this.#isReserved = true;
    const first = this.#prepared === undefined ? `${this.#word}:\0` : '';
    const second = this.#isReady ? '' : '\0';
    this.#channel.write(`${first}${second}${path}\0`);
    this.#prepared = undefined;
    this.#isReady = false;
    this.#word = newWord();
    return {
      token,
      launcher,
      files,
      record: () => recordOf(pending),
      ended,
      withdraw: () => {
        if (this.#pending !== pending || !isWithdrawable(pending)) return false;
        this.dismiss();
        this.#settle({ exit: unstartedExit(0, command) });
        return true;
      },
      dismiss: () => this.dismiss(),
      release: () => {
        if (!this.#pending) this.#isReserved = false;
      },
    };
  }

  /** Lets it end after its command. */
  dismiss(): void {
    if (this.#isDismissed) return;
    this.#isDismissed = true;
    this.#channel.end();
  }

  /** Does not follow its command any longer, and lets it run. */
  leave(): void {
    this.#settle({ exit: LEFT });
    this.dismiss();
  }

  /** Withdraws a command that it does not begin, for example because someone has stopped it. */
  lookAfter(): void {
    const pending = this.#pending;
    if (pending && recordOf(pending) === undefined && ++pending.delays > MOST_DELAYS)
      this.#giveUp();
  }

  destroy(): void {
    this.#channel.destroy();
  }

  #read(text: string): void {
    this.#text += text;
    if (!this.#text.endsWith('\n')) return;
    const [kind, code, rest] = this.#text.trim().split(' ');
    this.#text = '';
    if (!this.#pending) return;
    if (kind === 'exited')
      this.#settle({ exit: { kind, code: Number(code) }, leavesNothing: rest === 'none' });
    else this.#settle({ exit: unstartedExit(Number(code), this.#pending.command) });
  }

  #lose(): void {
    this.#isOver = true;
    const pending = this.#pending;
    const record = pending && recordOf(pending);
    if (record) this.#settle({ exit: readExit(pending.folder, record) ?? UNKNOWN });
    else this.#giveUp();
    // Without its folder, it is unknown whether the command began.
    this.#settle({ exit: UNKNOWN });
  }

  #giveUp(): void {
    const pending = this.#pending;
    if (!pending || !isWithdrawable(pending)) return;
    this.dismiss();
    this.#settle({ exit: unstartedExit(0, pending.command), isFree: true });
  }

  #settle(end: SubmissionEnd): void {
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.settle(end);
  }
}

/** In a missing folder, it is unknown whether the command has begun. */
function isWithdrawable(pending: Pending): boolean {
  try {
    return recordOf(pending) === undefined && withdraw(pending.folder);
  } catch {
    return false;
  }
}

function recordOf(pending: Pending): OwnRecord | undefined {
  const { folder, files } = pending;
  const read = () => launchRecord(readLaunch(folder, files.end));
  const record = pending.record ?? read();
  pending.record = record && { ...record, files };
  return pending.record;
}
