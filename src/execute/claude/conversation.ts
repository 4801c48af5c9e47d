/** Translates the stream of Claude Code into messages that no agent owns. */
import { bounded } from '../../model/bounded-text.ts';
import { MOST_CHARACTERS, type StepMessage } from '../../model/conversation.ts';
import { type Fields, fields, list, text } from '../json.ts';
import { lineReader } from '../lines.ts';
import type { ConversationReader } from '../steps/step-reader.ts';
import { isOfSubagent, parse, summary } from './messages.ts';

/** Reads one turn: it ends with the result, and later lines belong to other turns. */
export function conversationReader(): ConversationReader {
  const lines = lineReader();
  let partial = '';
  let isOver = false;
  const read = (line: string): readonly StepMessage[] => {
    const event = parse(line);
    switch (event.type) {
      case 'assistant':
        if (!isOfSubagent(event)) partial = '';
        return assistant(event);
      case 'user':
        return toolResults(event);
      case 'system':
        return note(event);
      case 'stream_event':
        partial = isOfSubagent(event) ? partial : partialAfter(partial, fields(event.event));
        return [];
      case 'result':
        isOver = true;
        partial = '';
        return event.is_error === true ? errors(event) : [];
      default:
        return [];
    }
  };
  return {
    push: (piece) => lines(piece).flatMap(({ text: line }) => (isOver ? [] : read(line))),
    get partial() {
      return partial;
    },
    get isOver() {
      return isOver;
    },
  };
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
            ...shortened(JSON.stringify(block.input ?? {})),
          },
        ];
      default:
        return [];
    }
  });
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
