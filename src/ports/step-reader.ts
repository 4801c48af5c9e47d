/** Reads the prompt and the messages of a step, also while it runs. */
import type { StepMessage } from '../model/conversation.ts';
import type { StepKey } from './run-store.ts';

export interface StepReader {
  read(run: string, step: StepKey, kind: StepKind): Promise<StepRecord>;
  /**
   * The messages of a step that is not over, and then each new one. `after` is the cursor of news that
   * the caller has. When `until` settles, the rest is delivered, and it ends.
   */
  follow(
    run: string,
    step: StepKey,
    kind: StepKind,
    more: { readonly after: string | undefined; readonly until: Promise<unknown> },
  ): AsyncIterable<StepNews>;
}

export type StepKind = 'prompt' | 'script';

export interface StepRecord {
  /** The prompt, or the input of a script; undefined if it was not kept. */
  readonly told: string | undefined;
  readonly messages: readonly StepMessage[];
  /** The number of messages before them that were left out. */
  readonly omitted: number;
  /** To follow the step after these messages. */
  readonly cursor: string;
  /** False if the records of the step are gone. */
  readonly isKept: boolean;
}

export type StepNews =
  /** The cursor stands for everything up to the end of these messages. */
  | {
      readonly kind: 'messages';
      readonly cursor: string;
      readonly messages: readonly StepMessage[];
    }
  /** The text that the agent is writing now. */
  | { readonly kind: 'partial'; readonly text: string };
