/** What came of a variant, or of the run from which it branched off. */
import type { BoundedText } from './bounded-text.ts';
import type { RunCondition } from './condition.ts';
import type { Origin } from './event.ts';

/** The figures of a run from a moment on. */
export interface VariantFigures {
  readonly run: string;
  readonly condition: RunCondition;
  /** The states of the agent at the step, in their order. */
  readonly path: readonly string[];
  readonly steps: number;
  readonly costUsd: number;
  readonly isPriced: boolean;
  readonly workedMs: number;
  readonly result: BoundedText | undefined;
  /** Why an agent has failed. */
  readonly failure: string | undefined;
  /** Undefined if they are not known. */
  readonly files: ChangedLines | undefined;
}

export interface VariantRow extends VariantFigures {
  readonly origin: Origin;
  /** The branch with its files; undefined if it has changed none, or if they are not committed yet. */
  readonly branch: string | undefined;
  /** The command that adopts its files. */
  readonly merge: string | undefined;
  /** Its worktree, if it exists. */
  readonly worktree: string | undefined;
}

export interface ChangedLines {
  readonly files: number;
  readonly added: number;
  readonly removed: number;
}
