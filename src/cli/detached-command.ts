/** The messages between a command with `--detach` and the background process that it starts. */
import type { ErrorPlace } from '../model/user-error.ts';
import type { StartOptions } from './commands/run.ts';

/** The task of the process. */
export interface DetachedCommand {
  readonly kind: 'run' | 'resume';
  /** The workflow, or the run. */
  readonly name: string;
  readonly options: StartOptions;
  /** The file of its standard error. */
  readonly log: string;
}

/** The first news about the start. */
export type FirstWord =
  | { readonly kind: 'began' }
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly message: string;
      readonly remedy: string;
      readonly place: ErrorPlace | undefined;
    }
  /** The command ended without a run to carry. */
  | { readonly kind: 'over'; readonly exitCode: number };

export function isDetachedCommand(value: unknown): value is DetachedCommand {
  return hasKind(value, ['run', 'resume']);
}

export function isFirstWord(value: unknown): value is FirstWord {
  return hasKind(value, ['began', 'refused', 'over']);
}

/** Only Raymond writes to this channel, so the kind is enough. */
function hasKind(value: unknown, kinds: readonly string[]): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'kind' in value &&
    kinds.includes(`${value.kind}`)
  );
}
