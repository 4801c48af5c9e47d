// The files of a launched process, all in its folder:
// - `process.json` identifies the process; it is written before the command begins.
// - `stdout` and `stderr` are its output.
// - `exit-<pid>` is how the command ended. The wrapper writes it, so it exists even if Raymond died.
// - `unstarted-<pid>` is why the command never began.
// A command that the launcher started has `launch` instead of all but the output: see `launch-file.ts`.
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { readRegularFileSync } from '../../files/regular-file.ts';
import { filesUnder } from '../../files/walk.ts';
import { STEP_FILES } from '../../model/step-files.ts';
import type { ProcessIdentity } from './identity.ts';
import { LAUNCH, launchFileOf, readLaunch } from './launch-file.ts';

export interface ProcessRecord {
  readonly identity: ProcessIdentity;
  readonly token: string;
  readonly command: string;
  /** The pid of the launcher whose session the process shares with other steps. */
  readonly launcher?: number;
  /** The command has ended. Its witness may have another one. */
  readonly isOver?: true;
}

export type Exit =
  /** A shell also exits with 128 + n when signal n ended its child. */
  | { readonly kind: 'exited'; readonly code: number }
  /** The command never began. */
  | { readonly kind: 'unstarted'; readonly reason: string }
  /** No record shows how it ended: its wrapper was killed, or the machine went down. */
  | { readonly kind: 'unknown' }
  /** It may still run, but another Raymond process has adopted it. */
  | { readonly kind: 'left' };

export const LEFT: Exit = { kind: 'left' };
export const UNKNOWN: Exit = { kind: 'unknown' };

export const stdoutOf = (folder: string): string => join(folder, STEP_FILES.stdout.name);
export const stderrOf = (folder: string): string => join(folder, STEP_FILES.stderr.name);
const exitOf = (folder: string, pid: number): string => join(folder, `exit-${pid}`);
/** The file that changes when the process ends. */
export const endFileOf = (folder: string, { identity, launcher }: ProcessRecord): string =>
  launcher === undefined ? exitOf(folder, identity.pid) : launchFileOf(folder);
const unstartedOf = (folder: string, pid: number) => join(folder, `unstarted-${pid}`);
const RECORD = STEP_FILES.process.name;
const recordOf = (folder: string): string => join(folder, RECORD);

/** All folders under one in which a process was launched. */
export function foldersWithRecords(root: string): readonly string[] {
  const records = filesUnder(root).filter((file) =>
    [RECORD, LAUNCH].some((name) => name === basename(file)),
  );
  return records.map((file) => dirname(file));
}

export function hasRecord(folder: string): boolean {
  return existsSync(recordOf(folder)) || readLaunch(folder) !== undefined;
}

/** Not synced to disk: only a crash of the machine can lose it, and that also ends the process. */
export function writeRecord(folder: string, record: ProcessRecord): void {
  const draft = `${recordOf(folder)}.new`;
  writeFileSync(draft, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  renameSync(draft, recordOf(folder));
}

export function readRecord(folder: string): ProcessRecord | undefined {
  const text = readIfExists(recordOf(folder));
  return text === undefined ? launchRecord(folder) : parseRecord(text);
}

function launchRecord(folder: string): ProcessRecord | undefined {
  const { note, progress } = readLaunch(folder) ?? {};
  if (note === undefined || progress === undefined || progress.kind === 'requested')
    return undefined;
  const { boot, ...rest } = note;
  const identity = { pid: progress.pid, started: progress.started, boot };
  return { ...rest, identity, ...(progress.kind !== 'began' && { isOver: true }) };
}

export function parseRecord(text: string): ProcessRecord | undefined {
  try {
    const { identity, token, command } = JSON.parse(text);
    const { pid, started, boot } = identity;
    const isWhole =
      Number.isSafeInteger(pid) &&
      pid > 1 &&
      [started, boot, token, command].every((value) => typeof value === 'string' && value !== '');
    return isWhole ? { identity: { pid, started, boot }, token, command } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Creates the exit file before the command begins, so that it can be watched and only its owner can
 * read it. The wrapper overwrites the reserved bytes, so a full disk does not lose the exit code.
 */
export function prepareExit(folder: string, pid: number): void {
  writeFileSync(exitOf(folder, pid), ' '.repeat(EXIT_BYTES), { mode: 0o600 });
}

const EXIT_BYTES = 32;

export function readExit(folder: string, record: ProcessRecord): Exit | undefined {
  if (record.launcher !== undefined) return launchExit(folder, record.command);
  const { identity, command } = record;
  const { pid } = identity;
  for (const file of [exitOf(folder, pid), unstartedOf(folder, pid)]) {
    const text = readIfExists(file);
    const exit = text === undefined ? undefined : parseExit(text, command);
    if (exit !== undefined) return exit;
  }
  return undefined;
}

function launchExit(folder: string, command: string): Exit | undefined {
  const progress = readLaunch(folder)?.progress;
  if (progress?.kind === 'unstarted') return unstartedExit(progress.code, command);
  return progress?.kind === 'exited' ? { kind: 'exited', code: progress.code } : undefined;
}

/** Ignores a line without its line end: the write was cut off. */
export function parseExit(text: string, command: string): Exit | undefined {
  const [, word, digits] = /^(exited|unstarted) (\d+)\r?\n/.exec(text) ?? [];
  if (word === undefined) return undefined;
  const code = Number(digits);
  return word === 'unstarted' ? unstartedExit(code, command) : { kind: 'exited', code };
}

export function unstartedExit(code: number, command: string): Exit {
  return { kind: 'unstarted', reason: whyUnstarted(code, command) };
}

/** The end of a command that an error kept from beginning. */
export function unstartedBy(why: unknown): Exit {
  return { kind: 'unstarted', reason: why instanceof Error ? why.message : String(why) };
}

function whyUnstarted(code: number, command: string): string {
  if (code === 0) return `Raymond ended before ${command} began.`;
  if (code === 1)
    return `Raymond could not record the start of ${command}. Check that the disk has space.`;
  if (code === 127) return `There is no program ${command}. Install it, or correct the PATH.`;
  return `${command} cannot be executed. Make it executable, and check the interpreter that its first line names.`;
}

/** The signal that a shell reports with this exit code. */
export function signalOf(code: number): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => number + 128 === code)?.[0];
}

const MAX_RECORD_BYTES = 1024 * 1024;

function readIfExists(file: string): string | undefined {
  try {
    return readRegularFileSync(file, MAX_RECORD_BYTES).toString('utf8');
  } catch {
    return undefined;
  }
}
