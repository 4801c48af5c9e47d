import type { Diagnostic } from './diagnostic.ts';

/**
 * Something that the person at the terminal can put right: shown as a sentence and a remedy, without
 * a stack trace.
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

/** A workflow that has no beginning. What else is wrong with its text comes along. */
export class WorkflowError extends UserError {
  readonly diagnostics: readonly Diagnostic[];

  constructor(code: string, message: string, remedy: string, diagnostics: readonly Diagnostic[]) {
    super(code, message, remedy);
    this.diagnostics = diagnostics;
  }
}
