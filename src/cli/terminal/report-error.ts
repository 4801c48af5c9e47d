import { resolve } from 'node:path';
import { UnusableFile } from '../../files/regular-file.ts';
import { cureOf, reasonOf } from '../../journal/disk-errors.ts';
import { UserError } from '../../model/user-error.ts';
import { RAYMOND_VERSION } from '../../world/version.ts';
import { stderr, stdout } from './terminal.ts';

/** Shows an error, with `json` also as JSON on standard output. Returns the exit code. */
export function reportError(error: unknown, json = false): number {
  const known = asUserError(error);
  if (json) stdout.json(errorJson(errorOf(error)));
  if (known) {
    stderr.error(known);
    return exitCodeOf(known);
  }
  const stack = error instanceof Error ? error.stack : String(error);
  stderr.say(`This is a bug in Raymond ${RAYMOND_VERSION}. Please report it:`);
  stderr.quote(stack ?? '');
  return BUG;
}

/** Whether the error is no bug. */
export const isExpected = (error: unknown) => asUserError(error) !== undefined;

/** Any error, in the form in which another process reports it. */
export const errorOf = (error: unknown): UserError => asUserError(error) ?? bug(error);

/** An error in the form for programs. */
export function errorJson({
  code,
  message,
  place,
  remedy,
}: Pick<UserError, 'code' | 'message' | 'place' | 'remedy'>) {
  const absolute = place ? { ...place, file: resolve(place.file) } : null;
  return { error: { code, message, place: absolute, remedy } };
}

export const USAGE = 64;
const BUG = 70;

function exitCodeOf({ code }: UserError): number {
  // A bug of a background process.
  if (code === 'bug') return BUG;
  return OF_THE_SURROUNDINGS.test(code) ? 1 : USAGE;
}

/** Errors of the machine or of another process. The user can fix all others in the command line or in a file. */
const OF_THE_SURROUNDINGS =
  /^(disk|journal|lock|process|project|inbox|event|question|user)-|^run-(locked|suspended|out-of-reach)$|^no-executable$/;

/** Many places use files, and an error of the file system is never a bug. */
function asUserError(error: unknown): UserError | undefined {
  if (error instanceof UserError) return error;
  if (!isDiskTrouble(error)) return undefined;
  const file = typeof error.path === 'string' ? error.path : undefined;
  return new UserError(
    'disk-trouble',
    `${file === undefined ? '' : `${file}: `}${reasonOf(error)}.`,
    `${cureOf(error)}, then try again.`,
    file === undefined ? undefined : { file },
  );
}

function isDiskTrouble(error: unknown): error is Error & { readonly path?: unknown } {
  return error instanceof UnusableFile || (error instanceof Error && 'syscall' in error);
}

function bug(error: unknown): UserError {
  const message = error instanceof Error ? error.message : String(error);
  return new UserError(
    'bug',
    `This is a bug in Raymond ${RAYMOND_VERSION}: ${message}`,
    'Report it, with the text on standard error.',
  );
}
