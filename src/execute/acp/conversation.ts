/** Translates the messages of an agent into messages that no agent owns. */
import { join } from 'node:path';
import { bounded } from '../../model/bounded-text.ts';
import { MOST_CHARACTERS, type StepMessage } from '../../model/conversation.ts';
import { STEP_FILES } from '../../model/step-files.ts';
import { type Fields, fields, list, text } from '../json.ts';
import { lineReader } from '../lines.ts';
import type { ConversationReader } from '../steps/step-reader.ts';
import { type Incoming, readMessage, readUpdate, type UpdateKind } from './protocol.ts';
import { type SentPrompt, turnToShow } from './records.ts';

/** Undefined if no agent of the protocol took the step. */
export function acpConversation(folder: string): ConversationReader | undefined {
  const turn = turnToShow(folder);
  return turn && conversationReader(turn.prompt);
}

/** Where the messages of a turn begin; undefined before the turn begins. */
export function acpBegun(folder: string) {
  const turn = turnToShow(folder);
  const from = turn?.prompt?.offset;
  if (!turn || from === undefined) return undefined;
  return { file: join(turn.process, STEP_FILES.stdout.name), from };
}

/** Reads one turn: it ends with the answer to its prompt. */
export function conversationReader(prompt: SentPrompt | undefined): ConversationReader {
  const lines = lineReader();
  let open: { kind: 'text' | 'thinking'; name: string; text: string } | undefined;
  let isOver = false;
  const calls = new Set<string>();

  const close = (): readonly StepMessage[] => {
    const ended = open;
    open = undefined;
    return ended && ended.text.trim() !== ''
      ? [{ kind: ended.kind, ...shortened(ended.text) }]
      : [];
  };
  const chunk = (kind: 'text' | 'thinking', update: Fields): readonly StepMessage[] => {
    const name = text(update.messageId);
    const before = open && (open.kind !== kind || open.name !== name) ? close() : [];
    open ??= { kind, name, text: '' };
    open.text += text(fields(update.content).text);
    return before;
  };
  const tool = (call: Fields): readonly StepMessage[] => {
    const id = text(call.toolCallId);
    const status = text(call.status);
    const isEnded = status === 'completed' || status === 'failed';
    // The arguments of a call often come after the call itself.
    const isKnown = call.rawInput !== undefined && Object.keys(fields(call.rawInput)).length > 0;
    const isNew = !calls.has(id) && (isKnown || isEnded);
    if (isNew) calls.add(id);
    return [
      ...close(),
      ...(isNew ? [toolCall(id, call)] : []),
      ...(isEnded ? [toolResult(id, call, status === 'failed')] : []),
    ];
  };
  const read = (message: Incoming | undefined): readonly StepMessage[] => {
    if (message?.kind === 'notification') {
      const update = readUpdate(message);
      if (!update || (prompt && update.session !== prompt.session)) return [];
      switch (update.kind as UpdateKind) {
        case 'agent_message_chunk':
          return chunk('text', update.fields);
        case 'agent_thought_chunk':
          return chunk('thinking', update.fields);
        case 'tool_call':
        case 'tool_call_update':
          return tool(update.fields);
        default:
          return [];
      }
    }
    if (message?.kind !== 'response' && message?.kind !== 'error') return [];
    if (prompt && message.id !== prompt.id) return [];
    isOver = true;
    const faults: readonly StepMessage[] =
      message.kind === 'error' ? [{ kind: 'note', ...shortened(message.error.message) }] : [];
    return [...close(), ...faults];
  };
  return {
    push: (piece) =>
      lines(piece).flatMap(({ text: line }) => (isOver ? [] : read(readMessage(line)))),
    get partial() {
      return open?.kind === 'text' ? open.text : '';
    },
    get isOver() {
      return isOver;
    },
  };
}

const shortened = (whole: string) => bounded(whole, MOST_CHARACTERS);

function toolCall(id: string, call: Fields): StepMessage {
  return {
    kind: 'tool-call',
    id,
    name: text(call.name) || text(call.kind) || 'tool',
    summary: text(call.title).replace(/\s+/g, ' ').slice(0, 300),
    inner: false,
    ...shortened(JSON.stringify(call.rawInput ?? {})),
  };
}

function toolResult(id: string, call: Fields, failed: boolean): StepMessage {
  const said = list(call.content)
    .map(fields)
    .map((part) => text(fields(part.content).text) || text(part.newText))
    .filter((part) => part !== '')
    .join('\n');
  return { kind: 'tool-result', call: id, failed, inner: false, ...shortened(said) };
}
