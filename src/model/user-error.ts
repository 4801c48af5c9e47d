import type { Diagnostic } from './diagnostic.ts';

/** Where an error is. */
export interface ErrorPlace {
  readonly file: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/**
 * An error that the user can fix. It is shown as a sentence and a remedy, without a stack trace. The
 * sentence names the place, and `place` has it for programs.
 */
export class UserError extends Error {
  override readonly name = 'UserError';
  readonly code: string;
  readonly remedy: string;
  readonly place: ErrorPlace | undefined;

  constructor(code: string, message: string, remedy: string, place?: ErrorPlace) {
    super(message);
    this.code = code;
    this.remedy = remedy;
    this.place = place;
  }
}

export function wrongUsage(message: string, remedy: string): UserError {
  return new UserError('usage', message, remedy);
}

/** A workflow without an entry. The error also lists the other faults of its text. */
export class WorkflowError extends UserError {
  /** The file that causes it, and the other faults, with absolute paths. */
  readonly file: string;
  readonly diagnostics: readonly Diagnostic[];

  constructor(
    { code, message, remedy }: Pick<UserError, 'code' | 'message' | 'remedy'>,
    file: string,
    diagnostics: readonly Diagnostic[],
  ) {
    super(code, message, remedy, { file });
    this.file = file;
    this.diagnostics = diagnostics;
  }
}
