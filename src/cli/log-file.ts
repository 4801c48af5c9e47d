import { appendFileSync, closeSync, constants, fchmodSync, fstatSync, openSync } from 'node:fs';
import { reasonOf } from '../journal/disk-errors.ts';
import { UserError } from '../model/user-error.ts';

/**
 * Opens a file to append to. It contains the words of agents, so only the user may read it. A file of
 * another user is refused with a UserError.
 */
export function openLog(file: string): (text: string) => void {
  const descriptor = open(file);
  try {
    makePrivate(descriptor, file);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return (text) => appendFileSync(descriptor, text);
}

/** Never blocks: a pipe may have no reader. */
const APPEND =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0);

function open(file: string): number {
  try {
    return openSync(file, APPEND, 0o600);
  } catch (error) {
    throw refusal(file, `it cannot be written (${reasonOf(error)})`);
  }
}

function makePrivate(descriptor: number, file: string): void {
  const found = fstatSync(descriptor);
  // A device like /dev/null keeps nothing.
  if (found.isCharacterDevice()) return;
  if (!found.isFile()) throw refusal(file, 'it is not a regular file');
  if (process.getuid === undefined) return;
  if (found.uid !== process.getuid()) throw refusal(file, 'it belongs to another user');
  if ((found.mode & 0o077) !== 0) fchmodSync(descriptor, 0o600);
}

function refusal(file: string, why: string): UserError {
  return new UserError(
    'log-file',
    `${file} cannot be the log file: ${why}.`,
    'Name another file with --log-file.',
    { file },
  );
}
