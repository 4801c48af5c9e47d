/** The messages of a step as a reader wants them: a tool call together with its result. */
import type { StepShape } from '../../src/look/step-shape.ts';

type StepMessage = StepShape['messages'][number];

type Of<K extends StepMessage['kind']> = Extract<StepMessage, { kind: K }>;

export type Item =
  | Exclude<StepMessage, { kind: 'tool-call' | 'tool-result' }>
  | {
      readonly kind: 'tool';
      readonly call: Of<'tool-call'>;
      readonly result: Of<'tool-result'> | undefined;
      readonly isDenied: boolean;
    };

export function itemsOf(messages: readonly StepMessage[]): readonly Item[] {
  const results = new Map(
    messages.flatMap((message) =>
      message.kind === 'tool-result' ? [[message.call, message] as const] : [],
    ),
  );
  const denied = new Set(
    messages.flatMap((one) => (one.kind === 'note' ? (one.denies ?? []) : [])),
  );
  const items: Item[] = [];
  for (const message of messages) {
    const last = items.at(-1);
    if (message.kind === 'tool-result') continue;
    if (message.kind === 'tool-call')
      items.push({
        kind: 'tool',
        call: message,
        result: results.get(message.id),
        isDenied: denied.has(message.id),
      });
    else if (isOutput(message) && last?.kind === message.kind)
      // A script writes when it likes. For a reader its output is one text.
      items[items.length - 1] = {
        ...message,
        text: last.text + message.text,
        omitted: last.omitted + message.omitted,
      };
    else items.push(message);
  }
  return items;
}

const isOutput = (message: StepMessage): message is Of<'stdout' | 'stderr'> =>
  message.kind === 'stdout' || message.kind === 'stderr';

export interface Messages {
  readonly messages: readonly StepMessage[];
  /** The number of messages before them that are not shown. */
  readonly omitted: number;
  /** Where the stream continues. It grows with every batch. */
  readonly cursor: number;
}

/** `cursor` is the one after the batch. A batch that was sent again adds nothing. */
export function withMessages(
  before: Messages,
  batch: readonly StepMessage[],
  cursor: number,
): Messages {
  if (cursor <= before.cursor) return before;
  const all = [...before.messages, ...batch];
  const tooMany = Math.max(0, all.length - MOST_MESSAGES);
  return { messages: all.slice(tooMany), omitted: before.omitted + tooMany, cursor };
}

const MOST_MESSAGES = 1_000;
