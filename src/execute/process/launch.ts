import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, mkdirSync, openSync, realpathSync, statSync } from 'node:fs';
import { Duplex, type Writable } from 'node:stream';
import { identify } from './identity.ts';
import { type LaunchedProcess, launchedProcess } from './launched-process.ts';
import {
  type Exit,
  hasRecord,
  type ProcessRecord,
  prepareExit,
  readExit,
  stderrOf,
  stdoutOf,
  UNKNOWN,
  writeRecord,
} from './record.ts';
import { withToken } from './token.ts';
import { wrap } from './wrapper.ts';

export interface Launch {
  /** The step's own folder, for one process only; made when it is not there. */
  readonly folder: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: { readonly file: string } | 'pipe' | 'none';
}

/**
 * Runs a command detached, with its output in files, so that it and all it says survive us. Trouble
 * with the command is an `unstarted` end. Throws only when the folder cannot be used.
 */
export function launch(wanted: Launch): LaunchedProcess {
  mkdirSync(wanted.folder, { recursive: true, mode: 0o700 });
  const folder = realpathSync(wanted.folder);
  if (hasRecord(folder)) throw new Error(`${folder} holds a process already. Use another folder.`);
  try {
    return begin({ ...wanted, folder });
  } catch (error) {
    return unstarted(folder, Promise.resolve(error));
  }
}

function begin(wanted: Launch): LaunchedProcess {
  const { folder, command } = wanted;
  const token = randomUUID();
  const child = spawnWrapper(wanted, token);
  const over = endOf(child);
  if (child.pid === undefined) return unstarted(folder, over);

  const gate = child.stdio[3];
  if (!(gate instanceof Duplex)) throw new Error('The wrapper has no gate.');
  gate.on('error', () => {});
  try {
    const identity = identify(child.pid);
    if (identity === undefined) throw new Error(`${command} was killed before it began.`);
    const record: ProcessRecord = { identity, token, command };
    prepareExit(folder, identity.pid);
    writeRecord(folder, record);
    gate.end('go\n');
    const ended = over.then((end) => readExit(folder, record) ?? exitSeen(end));
    return {
      ...launchedProcess(folder, record, ended),
      ...(child.stdin && { stdin: deaf(child.stdin) }),
    };
  } catch (error) {
    gate.destroy();
    throw error;
  }
}

function spawnWrapper({ folder, command, args, cwd, env, stdin }: Launch, token: string) {
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`There is no folder ${cwd} to run ${command} in. Make it, or name another.`);
  }
  const descriptors: number[] = [];
  const open = (file: string, flags: number) => {
    const descriptor = openSync(file, flags, 0o600);
    descriptors.push(descriptor);
    return descriptor;
  };
  try {
    const input = typeof stdin === 'object' ? open(stdin.file, constants.O_RDONLY) : stdin;
    const [program, programArgs] = wrap(process.platform, folder, command, args);
    return spawn(program, programArgs, {
      cwd,
      env: withToken(env, token),
      detached: true,
      windowsHide: true,
      stdio: [
        input === 'none' ? 'ignore' : input,
        open(stdoutOf(folder), FRESH),
        open(stderrOf(folder), FRESH),
        'pipe',
      ],
    });
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}

/** Appending keeps the outputs of several writers whole, also after one of them emptied the file. */
const FRESH = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_APPEND;

/** Resolves with the child's exit code, null when it was killed, or the error when it could not be made. */
function endOf(child: ChildProcess): Promise<number | null | Error> {
  return new Promise((resolve) => {
    child.once('exit', resolve);
    child.once('error', resolve);
  });
}

/** A wrapper that could not write its record, on a full disk, still exits with the command's code. */
function exitSeen(end: number | null | Error): Exit {
  return typeof end === 'number' ? { kind: 'exited', code: end } : UNKNOWN;
}

function unstarted(folder: string, error: Promise<unknown>): LaunchedProcess {
  const reasonOf = (why: unknown) => (why instanceof Error ? why.message : String(why));
  return {
    stdoutFile: stdoutOf(folder),
    stderrFile: stderrOf(folder),
    ended: error.then((why) => ({ kind: 'unstarted', reason: reasonOf(why) })),
    stop: async () => [],
  };
}

/** A process may end before it has read all; that is seen in how it ended. */
function deaf(stdin: Writable): Writable {
  return stdin.on('error', () => {});
}
