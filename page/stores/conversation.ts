/** The messages of a step as a reader wants them: a tool call together with its result. */
import type { StepShape } from '../../src/serve/shapes/step.ts';

type StepMessage = StepShape['messages'][number];

type Of<K extends StepMessage['kind']> = Extract<StepMessage, { kind: K }>;

export type Item =
  | Exclude<StepMessage, { kind: 'tool-call' | 'tool-result' }>
  | {
      readonly kind: 'tool';
      readonly call: Of<'tool-call'>;
      readonly result: Of<'tool-result'> | undefined;
    };

export function itemsOf(messages: readonly StepMessage[]): readonly Item[] {
  const results = new Map(
    messages.flatMap((message) =>
      message.kind === 'tool-result' ? [[message.call, message] as const] : [],
    ),
  );
  return messages.flatMap((message): readonly Item[] => {
    if (message.kind === 'tool-result') return [];
    if (message.kind === 'tool-call')
      return [{ kind: 'tool', call: message, result: results.get(message.id) }];
    return [message];
  });
}

export interface Messages {
  readonly messages: readonly StepMessage[];
  /** The number of messages so far, including those that were left out. */
  readonly count: number;
}

/** `count` is the number of messages after the batch. A batch that repeats messages adds only new ones. */
export function withMessages(
  before: Messages,
  batch: readonly StepMessage[],
  count: number,
): Messages {
  const fresh = count - before.count;
  if (fresh <= 0) return before;
  const messages = [...before.messages, ...batch.slice(-fresh)];
  return { messages: messages.slice(-MOST_MESSAGES), count };
}

const MOST_MESSAGES = 1_000;
