/** The meaning of an error of the operating system for a user, and its remedy. */

/** Completes "… cannot be written: ". */
export function reasonOf(error: unknown): string {
  const known = TROUBLES[codeOf(error)]?.reason;
  if (known !== undefined) return known;
  return error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
}

/** The beginning of a remedy: an imperative without a full stop. */
export function cureOf(error: unknown): string {
  return TROUBLES[codeOf(error)]?.cure ?? 'Fix the cause';
}

/** Whether the operating system refused an operation. Any other error is a bug. */
export function isSystemError(error: unknown): boolean {
  return /^E[A-Z0-9]+$/.test(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

interface Trouble {
  /** Absent if the message of the error is clear. */
  readonly reason?: string;
  readonly cure: string;
}

const fullDisk = 'Free some space';
const notWritable = 'Give your user permission to read and write there';
const tooManyFiles = 'Raise the limit for open files (ulimit -n), or end other programs';
const wrongPlace = 'Move or remove it';
const badDisk = 'Check the disk and the system log';
const lostServer = 'Check the connection to the network file system';

const TROUBLES: Readonly<Record<string, Trouble>> = {
  ENOSPC: { reason: 'there is no space left', cure: fullDisk },
  EDQUOT: { reason: 'your disk quota is used up', cure: fullDisk },
  EFBIG: {
    reason: 'the file has reached the size limit',
    cure: 'Raise the limit for the size of files (ulimit -f), or use another file system',
  },
  EROFS: { reason: 'the file system is read-only', cure: 'Make the file system writable' },
  EACCES: { reason: 'permission denied', cure: notWritable },
  EPERM: { reason: 'permission denied', cure: notWritable },
  EIO: { reason: 'the disk reports an error', cure: badDisk },
  ENXIO: { reason: 'the device is gone', cure: badDisk },
  ENODEV: { reason: 'the device is gone', cure: badDisk },
  EMFILE: { reason: 'this process has too many files open', cure: tooManyFiles },
  ENFILE: { reason: 'the system has too many files open', cure: tooManyFiles },
  ENOMEM: { reason: 'there is no memory left', cure: 'Free some memory' },
  EAGAIN: { reason: 'the system has no resources left', cure: 'End other programs' },
  ENOENT: {
    reason: 'the file or its folder does not exist',
    cure: 'Check whether the folder was moved or removed',
  },
  ENOTDIR: { reason: 'a part of the path is not a folder', cure: wrongPlace },
  EISDIR: { reason: 'it is a folder, not a file', cure: wrongPlace },
  EEXIST: { reason: 'something else has this name', cure: wrongPlace },
  ENOTEMPTY: { reason: 'the folder is not empty', cure: wrongPlace },
  ELOOP: { reason: 'it is a link, not a file', cure: wrongPlace },
  'NOT-A-FILE': { cure: wrongPlace },
  'TOO-LARGE': { cure: 'Remove it' },
  'OF-OTHERS': {
    cure: 'Check its content, then replace it with your own copy (cp it, chmod 600 the copy, mv it back)',
  },
  EMLINK: { reason: 'the file has too many links', cure: wrongPlace },
  ENAMETOOLONG: { reason: 'the path is too long', cure: 'Use a shorter folder name' },
  EBUSY: { reason: 'another program uses the file', cure: 'End the program that uses it' },
  ETXTBSY: { reason: 'another program uses the file', cure: 'End the program that uses it' },
  EXDEV: {
    reason: 'the path crosses file systems',
    cure: 'Keep the folder .raymond on one file system',
  },
  ENOTSUP: {
    reason: 'the file system does not support this',
    cure: 'Use another file system for .raymond',
  },
  EOPNOTSUPP: {
    reason: 'the file system does not support this',
    cure: 'Use another file system for .raymond',
  },
  ENOSYS: {
    reason: 'the file system does not support this',
    cure: 'Use another file system for .raymond',
  },
  ESTALE: { reason: 'the network file system has lost the file', cure: lostServer },
  ETIMEDOUT: { reason: 'the network file system does not answer', cure: lostServer },
  EHOSTDOWN: { reason: 'the network file system does not answer', cure: lostServer },
  ENOTCONN: { reason: 'the network file system does not answer', cure: lostServer },
};
