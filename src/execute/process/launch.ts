import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, mkdirSync, openSync, realpathSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { Duplex, type Writable } from 'node:stream';
import { type FileIdentity, identityOf, makeOwnFile, writeOwnFile } from '../../files/own-file.ts';
import { STEP_FILES } from '../../model/step-files.ts';
import type { Confinement } from '../rights/confinement.ts';
import type { StepSeals } from '../steps/step-seals.ts';
import { fifoOf, openForReading, openForWriting } from './fifo.ts';
import { identify } from './identity.ts';
import type { ProcessFiles } from './launch-file.ts';
import { newToken, type StepMark, withToken } from './mark.ts';
import {
  type Exit,
  hasRecord,
  LEFT,
  type OwnRecord,
  prepareExit,
  readExit,
  stderrOf,
  stdoutOf,
  UNKNOWN,
  unstartedBy,
  writeRecord,
} from './record.ts';
import type { Environment } from './shell-environment.ts';
import { hashOfWord, newWord } from './success-word.ts';
import { wrap } from './wrapper.ts';

export interface Launch {
  /** The step's own folder, for one process only; created if it does not exist. */
  readonly folder: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The environment that all commands of a run have in common: the same object, if possible. */
  readonly env: Environment;
  /** Variables that only this command has. */
  readonly variables?: Environment;
  /** For `fifo`, `makeFifo` has made it in the folder. */
  readonly stdin: { readonly file: string } | 'fifo' | 'pipe' | 'none';
  /** Written to the file `input` of the folder before the command begins. */
  readonly input?: string | undefined;
  /** Absent if the command may do everything that the user may. */
  readonly confine?: Confinement | undefined;
  /** A file that the command reads from `FILTER_DESCRIPTOR`. Then it inherits no other files. */
  readonly filter?: string | undefined;
  /** Its sandbox ends all of its processes together with it. */
  readonly endsWhole?: boolean;
  /** Its variables have secrets, so they must not be in any file. */
  readonly isPrivate?: boolean;
}

/** A process under its wrapper, launched by this Raymond process or by an earlier one. */
export interface ProcessHandle {
  /** With all symbolic links resolved. */
  readonly folder: string;
  /** Missing when the process could not be created. */
  readonly record?: OwnRecord;
  readonly stdin?: Writable;
  /** In place of `stdin`, if that is a FIFO. */
  readonly fifo?: Writable | undefined;
  readonly ended: Promise<Exit>;
  /** Stops following the process without ending it. If it still runs, `ended` resolves with `left`. */
  leave(): void;
}

/** See `RunProcesses.launch`. */
export function launch(wanted: Launch, seals: StepSeals, newMark: () => StepMark): ProcessHandle {
  const folder = makeStepFolder(wanted.folder);
  writeInput(folder, wanted);
  try {
    return begin(wanted, folder, seals, newMark());
  } catch (error) {
    return unstarted(folder, Promise.resolve(error));
  }
}

/** Creates a folder for one process; returns its path with all symbolic links resolved. */
function makeStepFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const folder = realpathSync(path);
  if (hasRecord(folder)) throw new Error(`${folder} already has a process. Use another folder.`);
  return folder;
}

export function writeInput(folder: string, { input }: Pick<Launch, 'input'>): void {
  if (input !== undefined) writeOwnFile(join(folder, STEP_FILES.input.name), input);
}

function begin(wanted: Launch, folder: string, seals: StepSeals, mark: StepMark): ProcessHandle {
  const { command } = wanted;
  const token = newToken(mark, randomUUID());
  const { child, ...made } = spawnWrapper({ ...wanted, folder }, mark, token);
  const { childEnd, leave } = endOf(child);
  if (child.pid === undefined) return unstarted(folder, childEnd);

  const gate = child.stdio[3];
  if (!(gate instanceof Duplex)) throw new Error('The wrapper has no gate.');
  gate.on('error', () => {});
  try {
    const identity = identify(child.pid);
    if (identity === undefined) throw new Error(`${command} was killed before it began.`);
    const word = newWord();
    const end = prepareExit(folder, identity.pid);
    const files: ProcessFiles = { ...made, end, success: hashOfWord(word) };
    const record: OwnRecord = { identity, token, command, files };
    writeRecord(seals, wanted.folder, record);
    gate.end(`${word}\n`);
    const ended = childEnd.then((end) => (end === 'left' ? LEFT : exitOf(end, folder, record)));
    const fifo = openForWriting(fifoOf(folder), made.stdin);
    const stdin = child.stdin ? { stdin: ignoreErrors(child.stdin) } : {};
    return { folder, record, ended, leave, ...(fifo ? { fifo } : stdin) };
  } catch (error) {
    gate.destroy();
    throw error;
  }
}

function spawnWrapper(
  { folder, command, args, cwd, env, variables, stdin, filter }: Launch,
  mark: StepMark,
  token: string,
) {
  needFolder({ cwd, command });
  const descriptors: number[] = [];
  const kept = (descriptor: number) => {
    descriptors.push(descriptor);
    return descriptor;
  };
  // Appending keeps the output of several writers intact, even after one of them truncated the file.
  const output = (file: string) => {
    const made = makeOwnFile(file, constants.O_APPEND);
    kept(made.descriptor);
    return made;
  };
  try {
    let fifo: FileIdentity | undefined;
    const openInput = () => {
      if (typeof stdin === 'object') return kept(openSync(stdin.file, constants.O_RDONLY));
      if (stdin !== 'fifo') return stdin;
      const descriptor = kept(openForReading(fifoOf(folder)));
      fifo = identityOf(descriptor);
      return descriptor;
    };
    const input = openInput();
    const [stdout, stderr] = [output(stdoutOf(folder)), output(stderrOf(folder))];
    const [program, programArgs] = wrap(process.platform, { mark, folder, command, args, filter });
    const child = spawn(program, programArgs, {
      cwd,
      env: withToken({ ...env, ...variables }, token),
      detached: true,
      windowsHide: true,
      stdio: [input === 'none' ? 'ignore' : input, stdout.descriptor, stderr.descriptor, 'pipe'],
    });
    const [out, err] = [stdout.identity, stderr.identity];
    return { child, stdout: out, stderr: err, ...(fifo !== undefined && { stdin: fifo }) };
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}

/** Throws when the working directory does not exist. */
export function needFolder({ cwd, command }: Pick<Launch, 'cwd' | 'command'>): void {
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new Error(
    `There is no folder ${cwd} to run ${command} in. Create it, or name another folder.`,
  );
}

/**
 * `childEnd` resolves with the child's exit code, null if it was killed, or the error if it could not
 * be created. A child that is left does not keep this process alive. It reads the end of its input, as
 * if this process had died.
 */
function endOf(child: ChildProcess) {
  let leave = () => {};
  const childEnd = new Promise<number | null | Error | 'left'>((resolve) => {
    child.once('exit', resolve);
    child.once('error', resolve);
    leave = () => {
      resolve('left');
      child.unref();
      child.stdin?.end();
      if (child.stdin instanceof Socket) child.stdin.unref();
    };
  });
  return { childEnd, leave };
}

/**
 * The exit code of the wrapper is that of the command, and nobody can forge it. The file adds only
 * whether the command began, and how it ended if the wrapper was killed afterwards.
 */
function exitOf(end: number | null | Error, folder: string, record: OwnRecord): Exit {
  const written =
    end === null || MAYBE_UNSTARTED.includes(end) ? readExit(folder, record) : undefined;
  if (typeof end !== 'number') return written ?? UNKNOWN;
  return written?.kind === 'unstarted' ? written : { kind: 'exited', code: end };
}

const MAYBE_UNSTARTED: readonly unknown[] = [126, 127];

function unstarted(folder: string, error: Promise<unknown>): ProcessHandle {
  return { folder, ended: error.then(unstartedBy), leave: () => {} };
}

/** A process may end before it has read all of its input. Its exit shows that, not a pipe error. */
function ignoreErrors(stdin: Writable): Writable {
  return stdin.on('error', () => {});
}
