/** What the application tells the person while it carries out a verb. Each door gives it its form. */
import type { Diagnostic } from './diagnostic.ts';

export type Notice =
  | { readonly kind: 'warning'; readonly text: string }
  /** It names a command to copy. */
  | { readonly kind: 'hint'; readonly text: string }
  /** A fault of a workflow that does not prevent the run. Its file is as the person names it. */
  | { readonly kind: 'diagnostic'; readonly diagnostic: Diagnostic }
  /** Something is missing, but the verb continues without it. */
  | { readonly kind: 'trouble'; readonly message: string; readonly remedy: string };

/** Something that only a person may decide. The facts are what they decide about. */
export interface Consent {
  readonly kind:
    | 'costly-start'
    | 'foreign-run'
    | 'changed-workflow'
    | 'shared-workflow'
    | 'rewind'
    | 'prune'
    | 'discard-work';
  readonly facts: readonly string[];
}

/**
 * The door through which a verb was called. A consent that the request does not give is asked here, for
 * all verbs in the same way.
 */
export interface Door {
  notice(notice: Notice): void;
  /** Whether a person agrees; undefined if no person can be asked. */
  agree(consent: Consent): Promise<boolean | undefined>;
  /** Opens the log file, or throws a UserError. Only for a door that writes reports. */
  openLog?(file: string, project: { readonly folder: string }): LogFile;
}

export interface LogFile {
  write(text: string): void;
  close(): void;
}

export const warnings = (texts: readonly string[]): readonly Notice[] =>
  texts.map((text) => ({ kind: 'warning', text }));

export const hints = (texts: readonly string[]): readonly Notice[] =>
  texts.map((text) => ({ kind: 'hint', text }));
