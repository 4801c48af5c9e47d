import type { Diagnostic } from './diagnostic.ts';
import type { About, State } from './workflow.ts';

/** Where a workflow's files come from. Only `load/` knows which kind it is. */
export interface Source {
  /** Names this source again, absolute. */
  readonly ref: string;
  readonly name: string;
  /** The state that was named explicitly, as written; else the entry rules decide. */
  readonly entry: string | undefined;
  /** Also files that are no states: scripts may use them. */
  readonly files: readonly SourceFile[];
  /** The file of which all of these are parts, where there is one. */
  readonly whole?: Uint8Array;
  readonly about: About;
  readonly diagnostics: readonly Diagnostic[];
}

export interface SourceFile {
  readonly name: string;
  readonly content:
    | { readonly bytes: Uint8Array }
    /** There, but not to be used. */
    | { readonly problem: string; readonly remedy: string }
    /** Read already, because it was part of a larger text. */
    | { readonly state: State };
}
