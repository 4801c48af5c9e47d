/** Translates the stream of Claude Code into messages that no agent owns. */
import { bounded } from '../../model/bounded-text.ts';
import { MOST_CHARACTERS, type StepMessage } from '../../model/conversation.ts';
import { interjected } from '../../model/spoken.ts';
import { type Fields, fields, list, number, text } from '../json.ts';
import { lineReader } from '../lines.ts';
import type { ConversationReader } from '../steps/step-reader.ts';
import { isOfSubagent, parse, spending, summary } from './messages.ts';
import { turnMeter } from './price.ts';

/** Reads one turn: it ends with the result, and later lines belong to other turns. */
export function conversationReader(): ConversationReader {
  const lines = lineReader();
  let partial = '';
  let isOver = false;
  let meter = turnMeter();
  /** When the newest part of the answer was complete. */
  let at: number | undefined;
  /** The usage of an answer is known when it is complete. */
  const turnOf = (part: Fields): readonly StepMessage[] => {
    if (part.type === 'message_start') {
      meter = turnMeter();
      at = undefined;
      meter.add(spending(fields(part.message)));
    }
    const tokens = number(fields(part.usage).output_tokens);
    if (part.type !== 'message_delta' || tokens === undefined) return [];
    meter.addOutput(tokens);
    const usage = meter.usage();
    if (!usage) return [];
    const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = usage;
    return [
      {
        kind: 'turn',
        tokens_read: inputTokens + cacheReadTokens + cacheWriteTokens,
        tokens_written: outputTokens,
        cost_usd: meter.estimateUsd(),
        ...(at !== undefined && { at }),
      },
    ];
  };
  const read = (line: string): readonly StepMessage[] => {
    const event = parse(line);
    switch (event.type) {
      case 'assistant':
        if (!isOfSubagent(event)) {
          partial = '';
          at = timeOf(event).at ?? at;
        }
        return assistant(event);
      case 'user':
        return [...heard(event), ...toolResults(event)];
      case 'system':
        return note(event);
      case 'stream_event':
        if (isOfSubagent(event)) return [];
        partial = partialAfter(partial, fields(event.event));
        return turnOf(fields(event.event));
      case 'result':
        isOver = true;
        partial = '';
        return event.is_error === true ? errors(event) : [];
      default:
        return [];
    }
  };
  return {
    push: (piece) =>
      lines(piece).flatMap(({ text: line }) => {
        // Words that came after the answer are answered in the same turn.
        if (isOver && heard(parse(line)).length > 0) isOver = false;
        return isOver ? [] : read(line);
      }),
    get partial() {
      return partial;
    },
    get isOver() {
      return isOver;
    },
  };
}

/** Newer versions say when. */
function timeOf({ timestamp }: Fields): { readonly at?: number } {
  const at = Date.parse(text(timestamp));
  return Number.isNaN(at) || at < 0 ? {} : { at };
}

const shortened = (whole: string) => bounded(whole, MOST_CHARACTERS);

function assistant(event: Fields): readonly StepMessage[] {
  const inner = isOfSubagent(event);
  const message = fields(event.message);
  const blocks = list(message.content).map(fields);
  // Claude Code reports its own errors as answers of a model that does not exist.
  if (message.model === '<synthetic>')
    return blocks.map((block) => ({ kind: 'note', ...shortened(text(block.text)) }));
  return blocks.flatMap((block): readonly StepMessage[] => {
    switch (block.type) {
      case 'text':
        return inner ? [] : [{ kind: 'text', ...shortened(text(block.text)) }];
      case 'thinking':
        return inner || text(block.thinking) === ''
          ? []
          : [{ kind: 'thinking', ...shortened(text(block.thinking)) }];
      case 'tool_use':
        return [
          {
            kind: 'tool-call',
            id: text(block.id),
            name: text(block.name),
            summary: summary(block.input),
            inner,
            ...timeOf(event),
            ...shortened(JSON.stringify(block.input ?? {})),
          },
        ];
      default:
        return [];
    }
  });
}

/** Words of a person. Claude Code repeats each message that it gets. */
function heard(event: Fields): readonly StepMessage[] {
  if (event.isReplay !== true || timeOf(event).at === undefined) return [];
  const [block] = list(fields(event.message).content).map(fields);
  const words = interjected(text(block?.text));
  return words === undefined ? [] : [{ kind: 'person', ...timeOf(event), ...shortened(words) }];
}

function toolResults(event: Fields): readonly StepMessage[] {
  const inner = isOfSubagent(event);
  const blocks = list(fields(event.message).content).map(fields);
  return blocks.flatMap((block): readonly StepMessage[] => {
    if (block.type !== 'tool_result') return [];
    return [
      {
        kind: 'tool-result',
        call: text(block.tool_use_id),
        failed: block.is_error === true,
        inner,
        ...timeOf(event),
        ...shortened(contentText(block.content)),
      },
    ];
  });
}

/** Images and the like are only named. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = list(content).map(fields);
  return parts
    .map((part) => (part.type === 'text' ? text(part.text) : `[${text(part.type)}]`))
    .join('\n');
}

function note(event: Fields): readonly StepMessage[] {
  switch (event.subtype) {
    case 'permission_denied':
      return [
        {
          kind: 'note',
          ...(text(event.tool_use_id) !== '' && { denies: text(event.tool_use_id) }),
          ...shortened(`Denied: ${text(event.tool_name)}. ${text(event.message)}`.trim()),
        },
      ];
    case 'api_retry':
      return [{ kind: 'note', text: 'The agent retries its request to the model.', omitted: 0 }];
    case 'compact_boundary':
      return [{ kind: 'note', text: 'The agent has shortened its memory.', omitted: 0 }];
    default:
      return [];
  }
}

function errors(event: Fields): readonly StepMessage[] {
  const lines = [text(event.result), ...list(event.errors).map(text)].filter((line) => line !== '');
  return lines.map((line) => ({ kind: 'note', ...shortened(line) }));
}

function partialAfter(before: string, part: Fields): string {
  if (part.type === 'message_start' || part.type === 'content_block_start') return '';
  if (part.type !== 'content_block_delta') return before;
  return (before + text(fields(part.delta).text)).slice(-MOST_PARTIAL);
}

/** The newest characters of a text that is being written. */
const MOST_PARTIAL = 20_000;
