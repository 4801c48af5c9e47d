import { UnusableFile } from '../files/regular-file.ts';
import { cureOf, reasonOf } from '../journal/disk-errors.ts';
import { UserError } from '../model/user-error.ts';
import { stderr } from './terminal.ts';
import { RAYMOND_VERSION } from './version.ts';

/** Shows an error, and gives the exit code. */
export function reportError(error: unknown): number {
  if (error instanceof UserError) {
    stderr.error(error);
    return OF_THE_SURROUNDINGS.test(error.code) ? 1 : USAGE;
  }
  if (isDiskTrouble(error)) {
    const where = typeof error.path === 'string' ? `${error.path}: ` : '';
    stderr.error({
      message: `${where}${reasonOf(error)}.`,
      remedy: `${cureOf(error)}, then try again.`,
    });
    return 1;
  }
  const stack = error instanceof Error ? error.stack : String(error);
  stderr.say(`This is a bug in Raymond ${RAYMOND_VERSION}. Please report it:`);
  stderr.quote(stack ?? '');
  return 70;
}

export const USAGE = 64;

/** Errors of the machine or of another process. The user can fix all others in the command line or in a file. */
const OF_THE_SURROUNDINGS =
  /^(journal|lock|process|project|inbox|event|question|user)-|^run-(locked|suspended|out-of-reach)$|^no-executable$/;

/** Many places use files, and an error of the file system is never a bug. */
function isDiskTrouble(error: unknown): error is Error & { readonly path?: unknown } {
  return error instanceof UnusableFile || (error instanceof Error && 'syscall' in error);
}
