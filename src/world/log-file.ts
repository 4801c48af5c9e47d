import {
  appendFileSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  openSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { isWithin } from '../files/regular-file.ts';
import { reasonOf } from '../journal/disk-errors.ts';
import type { LogFile } from '../model/notice.ts';
import { UserError } from '../model/user-error.ts';
import { realPath } from '../options/leads-out.ts';

/**
 * Opens a file to append to. It contains the words of agents, so only the user may read it, and it is
 * none of the files that Raymond reads. A file of another user is refused with a UserError, and so are a
 * link, a file in a linked folder of the project, and a file with a second name: agents can create links.
 */
export function openLog(file: string, project: { readonly folder: string }): LogFile {
  checkPlace(file, project.folder);
  const descriptor = open(file);
  try {
    makePrivate(descriptor, file);
    // A folder above it may have become a link in the meantime.
    checkPlace(file, project.folder);
    const [found, opened] = [statSync(file), fstatSync(descriptor)];
    if (found.ino !== opened.ino || found.dev !== opened.dev)
      throw refusal(file, 'it was replaced while it was opened');
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return {
    write: (text) => appendFileSync(descriptor, text),
    close: () => closeSync(descriptor),
  };
}

function checkPlace(file: string, folder: string): void {
  const [path, ours] = [resolve(file), realPath(folder)];
  const above = realPath(dirname(path));
  if (above && ours && isWithin(ours, join(above, basename(path))))
    throw refusal(file, `it is in ${folder}, where Raymond keeps its runs`);
  const root = dirname(folder);
  const unlinked = join(realPath(root) ?? root, relative(root, dirname(path)));
  if (above && isWithin(root, path) && above !== unlinked)
    throw refusal(file, 'a folder in its path is a link');
}

/** Never blocks: a pipe may have no reader. */
const APPEND =
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  (constants.O_NONBLOCK ?? 0) |
  (constants.O_NOFOLLOW ?? 0);

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
  if (found.nlink > 1) throw refusal(file, 'it has a second name (a hard link)');
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
