import type { Diagnostic } from './diagnostic.ts';
import type { About, State } from './workflow.ts';

/** The source of a workflow's files. Only `load/` knows its kind. */
export interface Source {
  /** An absolute name for this source. */
  readonly ref: string;
  readonly name: string;
  /** The state that the user named, as written; otherwise the entry rules decide. */
  readonly entry: string | undefined;
  /** All files, including those that are not states: scripts may use them. */
  readonly files: readonly SourceFile[];
  /** The one file that contains all of these, if there is one. */
  readonly whole?: Uint8Array;
  readonly about: About;
  readonly diagnostics: readonly Diagnostic[];
}

export interface SourceFile {
  readonly name: string;
  readonly content:
    | { readonly bytes: Uint8Array }
    /** It exists, but cannot be used. */
    | { readonly problem: string; readonly remedy: string }
    /** Already read, because it was part of a larger text. */
    | { readonly state: State };
}
