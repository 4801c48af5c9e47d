import { appendFileSync, closeSync, constants, fchmodSync, fstatSync, openSync } from 'node:fs';
import { reasonOf } from '../journal/disk-errors.ts';
import { UserError } from '../model/user-error.ts';

/**
 * Opens a file to append to. It tells what agents said, so it becomes the user's alone. A file of
 * somebody else, who could read it, is refused with a UserError.
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

/** Never waits: the other end of a pipe may never come. */
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
    `${file} is not used for the log: ${why}.`,
    'Name another --log-file.',
  );
}
