/** The messages of a step as a reader wants them: a tool call together with its result. */
import type { StepShape } from '../../src/look/step-shape.ts';

type StepMessage = StepShape['messages'][number];

type Of<K extends StepMessage['kind']> = Extract<StepMessage, { kind: K }>;

export type Item =
  | Exclude<StepMessage, { kind: 'tool-call' | 'tool-result' | 'turn' }>
  | (Of<'turn'> & {
      /** How long the model took, if the agent says when things happened. */
      readonly tookMs: number | undefined;
    })
  | {
      readonly kind: 'tool';
      readonly call: Of<'tool-call'>;
      readonly result: Of<'tool-result'> | undefined;
      readonly isDenied: boolean;
    };

interface About {
  /** When the step began, in ms. */
  readonly startedAt?: number;
  /** The calls that a person or a rule has denied, as the end of the step names them. */
  readonly denied?: readonly string[];
}

export function itemsOf(
  messages: readonly StepMessage[],
  { startedAt, denied: named = [] }: About = {},
): readonly Item[] {
  const results = new Map(
    messages.flatMap((message) =>
      message.kind === 'tool-result' ? [[message.call, message] as const] : [],
    ),
  );
  const denied = new Set(
    messages.flatMap((one) => (one.kind === 'note' ? (one.denies ?? []) : [])),
  );
  const items: Item[] = [];
  let since = startedAt;
  for (const message of messages) {
    const last = items.at(-1);
    if (message.kind === 'tool-result') since = message.inner ? since : message.at;
    if (message.kind === 'tool-result') continue;
    if (message.kind === 'turn') {
      const { at } = message;
      const took = at === undefined || since === undefined ? -1 : at - since;
      items.push({ ...message, tookMs: took < 0 ? undefined : took });
      continue;
    }
    if (message.kind === 'tool-call')
      items.push({
        kind: 'tool',
        call: message,
        result: results.get(message.id),
        isDenied: denied.has(message.id) || isNamed(message, results.get(message.id), named),
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

/** A call that was denied has a result that says why. */
const isNamed = (
  { name, summary }: Of<'tool-call'>,
  result: Of<'tool-result'> | undefined,
  named: readonly string[],
) => result?.failed === true && named.includes(`${name} ${summary}`);

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
