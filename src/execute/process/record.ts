// The files of a launched process, all in its folder:
// - `process.json` identifies the process; it is written before the command begins.
// - `stdout` and `stderr` are its output.
// - `exit-<pid>` is how the command ended, or why it never began. The wrapper writes it, so it exists
//   even if Raymond died.
// A command that the launcher started has `launch` instead of all but the output: see `launch-file.ts`.
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { type FileIdentity, writeOwnFile } from '../../files/own-file.ts';
import { readRegularFileSync, readWithIdentity } from '../../files/regular-file.ts';
import { filesUnder } from '../../files/walk.ts';
import { attempt, parsed } from '../../model/attempt.ts';
import { isShortage } from '../../model/shortage.ts';
import { STEP_FILES } from '../../model/step-files.ts';
import { readSealed, type StepSeals, writeSealed } from '../steps/step-seals.ts';
import {
  LAUNCH,
  launchFileOf,
  openLaunch,
  type ProcessFiles,
  pid,
  type ReadLaunch,
  readLaunch,
  recordedFiles,
  text,
} from './launch-file.ts';
import { hashOfWord } from './success-word.ts';

const recordSchema = z.object({
  identity: z.object({ pid, started: text, boot: text }),
  token: text,
  command: text,
  files: recordedFiles,
});

export interface ProcessRecord extends z.infer<typeof recordSchema> {
  /** The pid of the launcher whose session the process shares with other steps. */
  readonly launcher?: number;
  /** The command has ended. Its witness may have another one. */
  readonly isOver?: true;
}

export type Exit =
  /** A shell also exits with 128 + n when signal n ended its child. */
  | { readonly kind: 'exited'; readonly code: number }
  /** The command never began. `mayPass`: the machine lacked space, memory or open files. */
  | { readonly kind: 'unstarted'; readonly reason: string; readonly mayPass?: boolean }
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
export function writeRecord(
  seals: StepSeals,
  folder: string,
  record: ProcessRecord & { readonly files: ProcessFiles },
): void {
  writeSealed(seals, recordOf(folder), record);
}

/** What the record of a folder claims. Others may have written it: see `ownRecord`. */
export function readRecord(folder: string): ProcessRecord | undefined {
  const text = attempt(() => readRegularFileSync(recordOf(folder), MAX_RECORD_BYTES).toString());
  return text === undefined ? launchRecord(readLaunch(folder)) : parseRecord(text);
}

/** A record with the files of its process, written by Raymond for this step. */
export type OwnRecord = ProcessRecord & { readonly files: ProcessFiles };

/** `foreign`: there is a record, but Raymond did not write it for this step. */
export function ownRecord(seals: StepSeals, folder: string): OwnRecord | 'foreign' | undefined {
  const value = readSealed(seals, recordOf(folder), z.unknown());
  if (value === 'foreign') return 'foreign';
  if (value !== undefined) return withFiles(z.safeParse(recordSchema, value).data);
  try {
    const launch = openLaunch(folder);
    if (launch === undefined) return undefined;
    const isOurs =
      launch.file === launch.note.files?.end &&
      seals.opened(launchFileOf(folder), launch.sealed) !== undefined;
    if (!isOurs) return 'foreign';
    return launch.progress.kind === 'requested' ? undefined : withFiles(launchRecord(launch));
  } catch {
    return 'foreign';
  }
}

function withFiles(record: ProcessRecord | undefined): OwnRecord | 'foreign' {
  return record?.files ? { ...record, files: record.files } : 'foreign';
}

/** Undefined if the command has not begun. */
export function launchRecord(launch: ReadLaunch | undefined): ProcessRecord | undefined {
  const { note, progress } = launch ?? {};
  if (note === undefined || progress === undefined || progress.kind === 'requested')
    return undefined;
  const { boot, ...rest } = note;
  const identity = { pid: progress.pid, started: progress.started, boot };
  return { ...rest, identity, ...(progress.kind !== 'began' && { isOver: true }) };
}

export function parseRecord(json: string): ProcessRecord | undefined {
  return z.safeParse(recordSchema, parsed(json)).data;
}

/**
 * Creates the exit file before the command begins, so that it can be watched and only its owner can
 * read it. The wrapper overwrites the reserved bytes, so a full disk does not lose the exit code.
 */
export function prepareExit(folder: string, pid: number): FileIdentity {
  return writeOwnFile(exitOf(folder, pid), ' '.repeat(EXIT_BYTES));
}

const EXIT_BYTES = 40;

/** Undefined while the command runs, and if the file is not the one that Raymond made. */
export function readExit(folder: string, record: OwnRecord): Exit | undefined {
  const { identity, files, launcher } = record;
  if (launcher !== undefined) return launchExit(readLaunch(folder, files.end), record);
  const read = attempt(() => readWithIdentity(exitOf(folder, identity.pid), EXIT_BYTES));
  return read?.identity === files.end ? parseExit(read.bytes.toString('utf8'), record) : undefined;
}

function launchExit(launch: ReadLaunch | undefined, record: Ending): Exit | undefined {
  const progress = launch?.progress;
  if (progress?.kind === 'unstarted') return unstartedExit(progress.code, record.command);
  return progress?.kind === 'exited' ? exitedWith(progress, record) : undefined;
}

type Ending = { readonly command: string; readonly files: Pick<ProcessFiles, 'success'> };

/** Others may have written a success: see `success-word.ts`. */
function exitedWith(
  { code, word = '' }: { readonly code: number; readonly word?: string | undefined },
  { files }: Ending,
): Exit | undefined {
  return code === 0 && hashOfWord(word) !== files.success ? undefined : { kind: 'exited', code };
}

/** Ignores a line without its line end: the write was cut off. */
export function parseExit(text: string, record: Ending): Exit | undefined {
  const [, how, digits, word] = /^(exited|unstarted) (\d+)(?::([0-9a-f]+))?\r?\n/.exec(text) ?? [];
  if (how === undefined) return undefined;
  const code = Number(digits);
  return how === 'unstarted'
    ? unstartedExit(code, record.command)
    : exitedWith({ code, word }, record);
}

export function unstartedExit(code: number, command: string): Exit {
  const reason = whyUnstarted(code, command);
  return { kind: 'unstarted', reason, ...(code === UNRECORDED && { mayPass: true }) };
}

/** The end of a command that an error kept from beginning. */
export function unstartedBy(why: unknown): Exit {
  const reason = why instanceof Error ? why.message : String(why);
  return { kind: 'unstarted', reason, ...(isShortage(why) && { mayPass: true }) };
}

const UNRECORDED = 1;

function whyUnstarted(code: number, command: string): string {
  if (code === 0) return `Raymond ended before ${command} began.`;
  if (code === UNRECORDED)
    return `Raymond could not record the start of ${command}. Check that the disk has space.`;
  if (code === 127) return `There is no program ${command}. Install it, or correct the PATH.`;
  return `${command} cannot be executed. Make it executable, and check the interpreter that its first line names.`;
}

/** The signal that a shell reports with this exit code. */
export function signalOf(code: number): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => number + 128 === code)?.[0];
}

const MAX_RECORD_BYTES = 1024 * 1024;
