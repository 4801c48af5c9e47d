import { writeFile } from 'node:fs/promises';
import { hasCode } from '../../journal/disk.ts';
import { cureOf, isSystemError, reasonOf } from '../../journal/disk-errors.ts';
import { UserError } from '../../model/user-error.ts';

/** Writes a file that an option names. */
export async function writeReport(file: string, text: string): Promise<void> {
  await writeFile(file, text, { mode: 0o600 }).catch((error: unknown) => {
    if (!isSystemError(error)) throw error;
    throw new UserError(
      'unwritable',
      `${file} cannot be written: ${reasonOf(error)}.`,
      `${hasCode(error, 'ENOENT') ? 'Create its folder first' : cureOf(error)}, or name another file.`,
    );
  });
}
