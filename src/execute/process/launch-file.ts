// The `launch` file of a step: what the launcher is asked to run, and what has become of it.
// - The first line is a shell comment of fixed length. The witness overwrites it, with its identity
//   before the command begins, and with the exit code when it has ended.
// - The second line is a comment with a JSON value for whoever adopts the step.
// - The rest is shell code that the witness reads: see `launcher-shell.ts`.
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { readRegularFileSync } from '../../files/regular-file.ts';
import { STEP_FILES } from '../../model/step-files.ts';

export interface LaunchNote {
  readonly token: string;
  readonly command: string;
  readonly boot: string;
  /** The pid of the launcher, which is also the number of the session that all scripts share. */
  readonly launcher: number;
}

export type Progress =
  | { readonly kind: 'requested' }
  | {
      readonly kind: 'began' | 'exited' | 'unstarted';
      readonly pid: number;
      readonly started: string;
      readonly code: number;
    };

export const HEAD_BYTES = 64;

export const LAUNCH = STEP_FILES.launch.name;
export const launchFileOf = (folder: string): string => join(folder, LAUNCH);
const withdrawnOf = (folder: string): string => join(folder, STEP_FILES.withdrawn.name);

export function writeLaunch(folder: string, note: LaunchNote, code: string): void {
  const text = `#${' '.repeat(HEAD_BYTES - 2)}\n#${JSON.stringify(note)}\n${code}`;
  try {
    writeWhole(launchFileOf(folder), text);
  } catch (error) {
    // A part of it must not be taken for a request.
    rmSync(launchFileOf(folder), { force: true });
    throw error;
  }
}

/** Truncates only if needed, because ext4 writes a truncated file to the disk when it is closed. */
function writeWhole(file: string, text: string): void {
  const descriptor = openSync(file, constants.O_WRONLY | constants.O_CREAT, 0o600);
  try {
    if (fstatSync(descriptor).size > 0) ftruncateSync(descriptor);
    writeFileSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}

/** A witness that comes later must not begin, so another launch here needs another file. */
export function isWithdrawn(folder: string): boolean {
  return existsSync(withdrawnOf(folder));
}

/**
 * Withdraws a request; returns whether the command will never begin. The witness writes its identity
 * first and looks for the withdrawal afterwards, so one of the two notices the other. A witness that
 * comes later only writes a first line, which says nothing without the second.
 */
export function withdraw(folder: string): boolean {
  writeFileSync(withdrawnOf(folder), '', { mode: 0o600 });
  if (readLaunch(folder)?.progress.kind !== 'requested') return false;
  rmSync(launchFileOf(folder), { force: true });
  return true;
}

export interface ReadLaunch {
  readonly note: LaunchNote;
  readonly progress: Progress;
}

export function readLaunch(folder: string): ReadLaunch | undefined {
  try {
    const text = readRegularFileSync(launchFileOf(folder), MAX_LAUNCH_BYTES).toString('utf8');
    return parseLaunch(text);
  } catch {
    return undefined;
  }
}

/** Longer requests go another way: see `RunProcesses.submit`. */
export const MAX_LAUNCH_BYTES = 1024 * 1024;

export function parseLaunch(text: string): ReadLaunch | undefined {
  const [head = '', second = ''] = text.split('\n', 2);
  const note = parseNote(second);
  return note && { note, progress: parseHead(head) };
}

function parseHead(head: string): Progress {
  const [, kind, code, pid, started] =
    /^#(began|exited|unstarted) (\d+) (\d+) (\S.*?) *$/.exec(head) ?? [];
  if (started === undefined || (kind !== 'began' && kind !== 'exited' && kind !== 'unstarted'))
    return { kind: 'requested' };
  return { kind, code: Number(code), pid: Number(pid), started };
}

function parseNote(line: string): LaunchNote | undefined {
  try {
    const { token, command, boot, launcher } = JSON.parse(line.slice(1));
    const isWhole =
      Number.isSafeInteger(launcher) &&
      launcher > 1 &&
      [token, command, boot].every((value) => typeof value === 'string' && value !== '');
    return isWhole ? { token, command, boot, launcher } : undefined;
  } catch {
    return undefined;
  }
}
