/** A fault in a workflow's text. Lines and columns count from 1. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning' | 'note';
  /** Stable name of the kind of fault, for example `unknown-key`. */
  readonly code: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly remedy?: string;
  /** The correct name that is nearest to what was written. */
  readonly nearest?: string;
}
