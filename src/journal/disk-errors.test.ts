import { describe, expect, test } from 'vitest';
import { diskError } from '../../test/journal/door.ts';
import { cureOf, isSystemError, reasonOf } from './disk-errors.ts';

/** The errors that Raymond's calls on files can give, by the manuals of Linux and macOS. */
const OF_FILES = [
  ...['EACCES', 'EAGAIN', 'EBUSY', 'EDQUOT', 'EEXIST', 'EFBIG', 'EIO', 'EISDIR', 'ELOOP', 'EMFILE'],
  ...['EMLINK', 'ENAMETOOLONG', 'ENFILE', 'ENODEV', 'ENOENT', 'ENOMEM', 'ENOSPC', 'ENOSYS'],
  ...['ENOTCONN', 'ENOTDIR', 'ENOTEMPTY', 'ENOTSUP', 'ENXIO', 'EOPNOTSUPP', 'EPERM', 'EROFS'],
  ...['ESTALE', 'ETIMEDOUT', 'ETXTBSY', 'EXDEV'],
];

describe('an error of the system', () => {
  test.each(OF_FILES)('%s has its own reason and remedy', (code) => {
    const error = diskError(code);
    expect(isSystemError(error)).toBe(true);
    expect(reasonOf(error)).not.toContain(code);
    expect(cureOf(error)).not.toBe(cureOf(diskError('EUNHEARDOF')));
  });

  test.each([
    ['EMFILE', 'this process has too many files open', /ulimit -n/],
    ['ENFILE', 'the system has too many files open', /open files/],
    ['ENOSPC', 'there is no space left', /^Free some space$/],
    ['EFBIG', 'the file has reached the size limit', /ulimit -f/],
    ['EROFS', 'the file system is read-only', /writable/],
    ['EACCES', 'permission denied', /permission/],
    ['EIO', 'the disk reports an error', /^Check the disk/],
    ['ENAMETOOLONG', 'the path is too long', /shorter/],
  ])('%s is answered by what helps', (code, reason, cure) => {
    expect(reasonOf(diskError(code))).toBe(reason);
    expect(cureOf(diskError(code))).toMatch(cure);
  });

  test('only an error of the disk has a remedy about the disk', () => {
    const blamed = OF_FILES.filter((code) => /Check the disk/.test(cureOf(diskError(code))));
    expect(blamed).toEqual(['EIO', 'ENODEV', 'ENXIO']);
  });

  test('shows the message of an unknown error', () => {
    expect(reasonOf(diskError('EUNHEARDOF'))).toBe('EUNHEARDOF: made by a test');
    expect(cureOf(diskError('EUNHEARDOF'))).toBe('Fix the cause');
    expect(reasonOf('a word')).toBe('a word');
    expect(isSystemError(new Error('a bug'))).toBe(false);
  });
});
