import { basename, dirname, join } from 'node:path';
import { UnusableFile } from '../files/regular-file.ts';
import { JOURNAL_VERSION } from '../model/event.ts';
import { NEWER_RAYMOND } from '../model/newer-raymond.ts';
import { UserError } from '../model/user-error.ts';
import { cureOf, isSystemError, reasonOf } from './disk-errors.ts';

/** The other files of a run are in the same folder as its journal, under the same name. */
export function besideJournal(path: string) {
  const run = basename(path, '.jsonl');
  const named = (ending: string) => join(dirname(path), `${run}${ending}`);
  return { run, stateFile: named('.json'), pointer: named('.snapshot') };
}

/** A line has changed since it was written, and it is not a torn last line. */
export class CorruptJournal extends UserError {
  readonly line: number;

  constructor(path: string, line: number, reason: string, left: { readonly hasGoodPart: boolean }) {
    const where = `Line ${line} of the journal ${path} is damaged: ${reason}.`;
    super(
      'journal-corrupt',
      left.hasGoodPart
        ? `${where} The lines before it are good. The file was not changed.`
        : `${where} There is no good line before it. The file was not changed.`,
      left.hasGoodPart ? toSalvage(path) : RESTORE,
      { file: path, line },
    );
    this.line = line;
  }
}

/** The last lines are missing. */
export class CutJournal extends UserError {
  /** The evidence: the state file, or the end that Raymond has remembered. */
  readonly by: 'state' | 'head';
  /** The last event in the journal. */
  readonly seq: number;

  constructor(path: string, seq: number, by: CutJournal['by'], fact: string) {
    super('journal-cut', `The journal ${path} ${fact}`, toSalvage(path), { file: path });
    this.by = by;
    this.seq = seq;
  }
}

export function cutByState(
  path: string,
  { seq }: { readonly seq: number },
  shown: number,
): CutJournal {
  return new CutJournal(
    path,
    seq,
    'state',
    `ends with event ${seq}, but the state file ${besideJournal(path).stateFile} already shows event ${shown}. The events in between are lost. Neither file was changed.`,
  );
}

export function cutByHead(
  path: string,
  { seq }: { readonly seq: number },
  remembered: number,
): CutJournal {
  const fact =
    seq < remembered
      ? `ends with event ${seq}, but Raymond has already written event ${remembered}. Its last lines were removed, or an older copy has replaced it.`
      : `does not contain event ${remembered} as Raymond wrote it last. Another copy of the run has continued.`;
  return new CutJournal(path, seq, 'head', `${fact} The file was not changed.`);
}

function toSalvage(path: string): string {
  const { run } = besideJournal(path);
  return `Restore the journal from a backup, or continue from the last good line (the damaged file is kept): raymond resume ${run} --salvage`;
}

const RESTORE = 'Restore the journal from a backup, or start the workflow again.';

/** A journal names its run, so that a renamed file cannot be mistaken for another run. */
export function journalOfAnother(id: string, written: string): UserError | undefined {
  if (written === id.normalize('NFC')) return undefined;
  return new UserError(
    'journal-of-another-run',
    `The journal named ${id} belongs to the run ${JSON.stringify(written)}.`,
    'Rename the file back, or remove it.',
  );
}

export function newerJournal(path: string, version: number): UserError {
  return new UserError(
    'journal-version',
    `The journal ${path} was written by a newer Raymond: it has version ${version}, and this Raymond reads versions up to ${JOURNAL_VERSION}.`,
    NEWER_RAYMOND,
    { file: path },
  );
}

export function unknownEvent(path: string, line: number): UserError {
  return new UserError(
    'journal-version',
    `Line ${line} of the journal ${path} was written by a newer Raymond: it is not damaged, but this Raymond does not know such an event.`,
    NEWER_RAYMOND,
    { file: path, line },
  );
}

export function noRun(path: string): UserError {
  return new UserError(
    'no-run',
    `There is no run ${besideJournal(path).run}: ${path} does not exist.`,
    'To see all runs: raymond list',
  );
}

export function missingJournal(path: string): UserError {
  const { run, stateFile } = besideJournal(path);
  return new UserError(
    'journal-missing',
    `The run ${run} has lost its journal: ${stateFile} exists, but ${path} does not.`,
    `Restore the journal from a backup, or start the workflow again. ${stateFile} shows how far the run got.`,
    { file: path },
  );
}

export function emptiedJournal(path: string): UserError {
  const { run, stateFile } = besideJournal(path);
  return new UserError(
    'journal-emptied',
    `The run ${run} has lost the content of its journal: ${path} contains no complete event, but ${stateFile} shows that the run had started.`,
    `Restore the journal from a backup, or start the workflow again. ${stateFile} shows how far the run got.`,
    { file: path },
  );
}

export function emptyJournal(path: string): UserError {
  return new UserError(
    'journal-empty',
    `The journal ${path} contains no complete event: the run was interrupted before its first event was saved.`,
    'Start the workflow again.',
    { file: path },
  );
}

export function nothingToSalvage(path: string): UserError {
  return new UserError(
    'journal-lost',
    `The journal ${path} is damaged from its first line on, so nothing can be recovered.`,
    RESTORE,
    { file: path },
  );
}

export function unreadableJournal(path: string, error: unknown): UserError {
  return new UserError(
    'journal-unreadable',
    `The journal ${path} cannot be read: ${reasonOf(error)}.`,
    `${cureOf(error)}, then try again.`,
    { file: path },
  );
}

export function runExists(path: string): UserError {
  const { run } = besideJournal(path);
  return new UserError(
    'run-exists',
    `The run ${run} already exists: ${path}`,
    `Continue it (raymond resume ${run}), or choose another --workflow-id.`,
    { file: path },
  );
}

/** `begun`: a part of the run is saved, so it can be resumed. */
export function unwritableJournal(path: string, error: unknown, begun: boolean): UserError {
  const next = begun
    ? `run: raymond resume ${besideJournal(path).run}`
    : 'start the workflow again.';
  return new UserError(
    'journal-unwritable',
    `The journal ${path} could not be written: ${reasonOf(error)}. Raymond did not act on anything that was not saved.`,
    `${cureOf(error)}, then ${next}`,
    { file: path },
  );
}

/** For the journal of a run that has begun. Returns errors that are not about the disk unchanged. */
export function asUnwritable(path: string, error: unknown): unknown {
  if (error instanceof UnusableFile) return unreadableJournal(path, error);
  return isSystemError(error) ? unwritableJournal(path, error, true) : error;
}
