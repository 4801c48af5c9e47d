/** The meaning of an error of the operating system for a user, and its remedy. */

/** Completes "… cannot be written: ". */
export function reasonOf(error: unknown): string {
  const known = TROUBLES.get(codeOf(error))?.reason;
  if (known !== undefined) return known;
  return error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
}

/** The beginning of a remedy: an imperative without a full stop. */
export function cureOf(error: unknown): string {
  return TROUBLES.get(codeOf(error))?.cure ?? 'Fix the cause';
}

/** Whether the operating system refused an operation. Any other error is a bug. */
export function isSystemError(error: unknown): boolean {
  return /^E[A-Z0-9]+$/.test(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

interface Trouble {
  readonly cure: string;
  /** Absent if the message of the error is clear. */
  readonly reason?: string | undefined;
}

const fullDisk = 'Free some space';
const notWritable = 'Give your user permission to read and write there';
const tooManyFiles = 'Raise the limit for open files (ulimit -n), or end other programs';
const wrongPlace = 'Move or remove it';
const badDisk = 'Check the disk and the system log';
const lostServer = 'Check the connection to the network file system';
const ofOthers =
  'Check its content, then replace it with your own copy (cp it, chmod 600 the copy, mv it back)';
const tooLong = 'Raise the limit for the size of files (ulimit -f), or use another file system';

/** Codes with the same meaning, their cure and their reason. */
const ROWS: readonly (readonly [codes: string, cure: string, reason?: string])[] = [
  ['ENOSPC', fullDisk, 'there is no space left'],
  ['EDQUOT', fullDisk, 'your disk quota is used up'],
  ['EFBIG', tooLong, 'the file has reached the size limit'],
  ['EROFS', 'Make the file system writable', 'the file system is read-only'],
  ['EACCES EPERM', notWritable, 'permission denied'],
  ['EIO', badDisk, 'the disk reports an error'],
  ['ENXIO ENODEV', badDisk, 'the device is gone'],
  ['EMFILE', tooManyFiles, 'this process has too many files open'],
  ['ENFILE', tooManyFiles, 'the system has too many files open'],
  ['ENOMEM', 'Free some memory', 'there is no memory left'],
  ['EAGAIN', 'End other programs', 'the system has no resources left'],
  [
    'ENOENT',
    'Check whether the folder was moved or removed',
    'the file or its folder does not exist',
  ],
  ['ENOTDIR', wrongPlace, 'a part of the path is not a folder'],
  ['EISDIR', wrongPlace, 'it is a folder, not a file'],
  ['EEXIST', wrongPlace, 'something else has this name'],
  ['ENOTEMPTY', wrongPlace, 'the folder is not empty'],
  ['ELOOP', wrongPlace, 'it is a link, not a file'],
  ['NOT-A-FILE', wrongPlace],
  ['TOO-LARGE', 'Remove it'],
  ['OF-OTHERS', ofOthers],
  ['EMLINK', wrongPlace, 'the file has too many links'],
  ['ENAMETOOLONG', 'Use a shorter folder name', 'the path is too long'],
  ['EBUSY ETXTBSY', 'End the program that uses it', 'another program uses the file'],
  ['EXDEV', 'Keep the folder .raymond on one file system', 'the path crosses file systems'],
  [
    'ENOTSUP EOPNOTSUPP ENOSYS',
    'Use another file system for .raymond',
    'the file system does not support this',
  ],
  ['ESTALE', lostServer, 'the network file system has lost the file'],
  ['ETIMEDOUT EHOSTDOWN ENOTCONN', lostServer, 'the network file system does not answer'],
];

const TROUBLES: ReadonlyMap<string, Trouble> = new Map(
  ROWS.flatMap(([codes, cure, reason]) => codes.split(' ').map((code) => [code, { cure, reason }])),
);
