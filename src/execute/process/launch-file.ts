// The `launch` file of a step: what the launcher is asked to run, and what has become of it.
// - The first line is a shell comment of fixed length. The witness overwrites it, with its identity
//   before the command begins, and with the exit code when it has ended.
// - The second line is a comment with a JSON value for whoever adopts the step.
// - The rest is shell code that the witness reads: see `launcher-shell.ts`.
import { closeSync, lstatSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { type FileIdentity, ForeignFile, makeOwnFile } from '../../files/own-file.ts';
import { readWithIdentity } from '../../files/regular-file.ts';
import { attempt, parsed } from '../../model/attempt.ts';
import { STEP_FILES } from '../../model/step-files.ts';
import type { StepSeals } from '../steps/step-seals.ts';

export const text = z.string().check(z.minLength(1));
export const pid = z.int().check(z.gt(1));

/** The files that Raymond made for a process, and what shows that others did not write to them. */
const filesSchema = z.object({
  stdout: text,
  stderr: text,
  /** The file that says how the command ended: `exit-<pid>` or `launch`. */
  end: text,
  /** The hash of the word that shows a success: see `success-word.ts`. */
  success: text,
  /** The FIFO that the process reads. */
  stdin: z.optional(text),
});

export type ProcessFiles = z.infer<typeof filesSchema>;

/** Absent in the records of an earlier version. */
export const recordedFiles = z.catch(z.optional(filesSchema), undefined);

/** The files that a folder is made with. */
export type MadeFiles = Pick<ProcessFiles, 'stdout' | 'stderr' | 'end'>;

const noteSchema = z.object({
  token: text,
  command: text,
  boot: text,
  /** The pid of the launcher, which is also the number of the session that all scripts share. */
  launcher: pid,
  files: recordedFiles,
});

type LaunchNote = z.infer<typeof noteSchema>;

type Progress =
  | { readonly kind: 'requested' }
  | {
      readonly kind: 'began' | 'exited' | 'unstarted';
      readonly pid: number;
      readonly started: string;
      readonly code: number;
      /** Only after a success. */
      readonly word?: string | undefined;
    };

export const HEAD_BYTES = 80;

export const LAUNCH = STEP_FILES.launch.name;
export const launchFileOf = (folder: string): string => join(folder, LAUNCH);
const withdrawnOf = (folder: string): string => join(folder, STEP_FILES.withdrawn.name);

/** `written.file` is where the file is now, and `written.sealedFor` where it will be. */
export function writeLaunch(
  seals: StepSeals,
  { file, sealedFor }: { readonly file: string; readonly sealedFor: string },
  note: LaunchNote & { readonly files: ProcessFiles },
  code: string,
): void {
  const sealed = seals.sealed(launchFileOf(sealedFor), note);
  const text = `#${' '.repeat(HEAD_BYTES - 2)}\n#${sealed}\n${code}`;
  const path = launchFileOf(file);
  const { descriptor, identity } = makeOwnFile(path);
  try {
    if (identity !== note.files.end) throw new ForeignFile(path);
    writeFileSync(descriptor, text);
  } catch (error) {
    // A part of it must not be taken for a request.
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Withdraws a request; returns whether the command will never begin. The witness writes its identity
 * first and looks for the withdrawal afterwards, so one of the two notices the other. A witness that
 * comes later only writes a first line, which says nothing without the second.
 */
export function withdraw(folder: string): boolean {
  closeSync(makeOwnFile(withdrawnOf(folder)).descriptor);
  if (readLaunch(folder)?.progress.kind !== 'requested') return false;
  rmSync(launchFileOf(folder), { force: true });
  return true;
}

export interface ReadLaunch extends ParsedLaunch {
  readonly file: FileIdentity;
}

interface ParsedLaunch {
  readonly note: LaunchNote;
  readonly progress: Progress;
  /** The note with its seal. */
  readonly sealed: unknown;
}

/** What the file claims; undefined if it cannot be read. `made` is the file that it must be. */
export function readLaunch(folder: string, made?: FileIdentity): ReadLaunch | undefined {
  try {
    const launch = openLaunch(folder);
    return made === undefined || made === launch?.file ? launch : undefined;
  } catch {
    return undefined;
  }
}

/** The same. Throws if there is a file, but none that Raymond could have made. */
export function openLaunch(folder: string): ReadLaunch | undefined {
  const path = launchFileOf(folder);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  const { bytes, identity } = readWithIdentity(path, MAX_LAUNCH_BYTES);
  const launch = parseLaunch(bytes.toString('utf8'));
  return launch && { ...launch, file: identity };
}

/**
 * The first process of a command's sandbox, which bubblewrap has added to the file. All others of the sandbox
 * end before it. Commands in a sandbox cannot change the file.
 */
export function sandboxIn(folder: string, made: FileIdentity): number | undefined {
  const read = attempt(() => readWithIdentity(launchFileOf(folder), MAX_LAUNCH_BYTES));
  if (read?.identity !== made) return undefined;
  const told = /^\{\n +"child-pid": (\d+)/m.exec(
    read.bytes.toString('utf8', read.bytes.lastIndexOf('\n{')),
  );
  return told ? Number(told[1]) : undefined;
}

/** Longer requests go another way: see `RunProcesses.submit`. */
export const MAX_LAUNCH_BYTES = 1024 * 1024;

export function parseLaunch(text: string): ParsedLaunch | undefined {
  const [head = '', second = ''] = text.split('\n', 2);
  const sealed = parsed(second.slice(1));
  const note = z.safeParse(noteSchema, sealed).data;
  return note && { note, progress: parseHead(head), sealed };
}

function parseHead(head: string): Progress {
  const [, kind, code, word, pid, started] =
    /^#(began|exited|unstarted) (\d+)(?::([0-9a-f]+))? (\d+) (\S.*?) *$/.exec(head) ?? [];
  if (started === undefined || (kind !== 'began' && kind !== 'exited' && kind !== 'unstarted'))
    return { kind: 'requested' };
  return { kind, code: Number(code), word, pid: Number(pid), started };
}
