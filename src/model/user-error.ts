import type { Diagnostic } from './diagnostic.ts';

/**
 * An error that the user can fix. It is shown as a sentence and a remedy, without a stack trace.
 */
export class UserError extends Error {
  override readonly name = 'UserError';
  readonly code: string;
  readonly remedy: string;

  constructor(code: string, message: string, remedy: string) {
    super(message);
    this.code = code;
    this.remedy = remedy;
  }
}

/** A workflow without an entry. The error also carries the other faults of its text. */
export class WorkflowError extends UserError {
  /** The file that causes it, and the other faults, with absolute paths. */
  readonly file: string;
  readonly diagnostics: readonly Diagnostic[];

  constructor(
    { code, message, remedy }: Pick<UserError, 'code' | 'message' | 'remedy'>,
    file: string,
    diagnostics: readonly Diagnostic[],
  ) {
    super(code, message, remedy);
    this.file = file;
    this.diagnostics = diagnostics;
  }
}
