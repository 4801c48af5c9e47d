import { basename, dirname, join } from 'node:path';
import { JOURNAL_VERSION } from '../model/event.ts';
import { UserError } from '../model/user-error.ts';

/** A journal stands beside the other files of its run, under the same name. */
export function besideJournal(path: string) {
  const run = basename(path, '.jsonl');
  const named = (ending: string) => join(dirname(path), `${run}${ending}`);
  return { run, stateFile: named('.json'), pointer: named('.snapshot') };
}

/** Something is wrong before the end, so it was not a crash that tore the last line. */
export class CorruptJournal extends UserError {
  readonly line: number;
  /** How many bytes of the file are good. */
  readonly goodBytes: number;

  constructor(path: string, line: number, goodBytes: number, reason: string) {
    super(
      'journal-corrupt',
      `Line ${line} of the journal ${path} cannot be read: ${reason}. The lines before it are good; the file was left as it is.`,
      `To go on from the last good line, with the damaged file kept aside: raymond resume ${besideJournal(path).run} --salvage`,
    );
    this.line = line;
    this.goodBytes = goodBytes;
  }
}

export function otherVersion(path: string, version: number): UserError {
  return new UserError(
    'journal-version',
    `The journal ${path} has version ${version}; this Raymond reads version ${JOURNAL_VERSION}.`,
    'Install a newer Raymond (npm install -g raymond@latest), or use the one that started the run.',
  );
}

export function noRun(path: string): UserError {
  return new UserError(
    'no-run',
    `There is no run ${besideJournal(path).run}: ${path} does not exist.`,
    'See which runs there are: raymond list',
  );
}

export function missingJournal(path: string): UserError {
  const { run, stateFile } = besideJournal(path);
  return new UserError(
    'journal-missing',
    `The run ${run} has lost its journal: ${stateFile} is there, but ${path} is not.`,
    `Put the journal back from a backup, or start the workflow anew; ${stateFile} tells how far it had come.`,
  );
}

export function emptyJournal(path: string): UserError {
  return new UserError(
    'journal-empty',
    `The journal ${path} holds no complete event: the run was interrupted before its first one was saved.`,
    'Nothing of it was carried out. Start the workflow again.',
  );
}

export function nothingToSalvage(path: string): UserError {
  return new UserError(
    'journal-lost',
    `The journal ${path} is damaged from its first line on: nothing of it can be kept.`,
    'Put it back from a backup, or start the workflow anew.',
  );
}

export function unreadableJournal(path: string, error: unknown): UserError {
  return new UserError(
    'journal-unreadable',
    `The journal ${path} cannot be read: ${reasonOf(error)}.`,
    'Make the file readable for you, then try again.',
  );
}

export function runExists(path: string): UserError {
  const { run } = besideJournal(path);
  return new UserError(
    'run-exists',
    `There is a run ${run} already: ${path}`,
    `Go on with it (raymond resume ${run}), or choose another --workflow-id.`,
  );
}

/** `begun`: something of the run is saved, so that it can be resumed. */
export function unwritableJournal(path: string, error: unknown, begun: boolean): UserError {
  const next = begun ? `raymond resume ${besideJournal(path).run}` : 'start the workflow again';
  return new UserError(
    'journal-unwritable',
    `The journal ${path} could not be written: ${reasonOf(error)}. Whatever was not saved was not acted on.`,
    `${cureOf(error)}, then: ${next}`,
  );
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  return REASONS[code] ?? error.message.replace(/\.$/, '');
}

export function cureOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return CURES[code] ?? 'Check the disk';
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'there is no space left',
  EDQUOT: 'your disk quota is used up',
  EROFS: 'the file system is read-only',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EIO: 'the disk reports an error',
};

const CURES: Readonly<Record<string, string>> = {
  ENOSPC: 'Free some space',
  EDQUOT: 'Free some space',
  EROFS: 'Make the folder writable',
  EACCES: 'Make the folder writable for you',
  EPERM: 'Make the folder writable for you',
  'NOT-A-FILE': 'Remove what is in its place',
  'TOO-LARGE': 'Remove it',
};
