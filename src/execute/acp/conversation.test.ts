import { expect, test } from 'vitest';
import { conversationReader } from './conversation.ts';

const prompt = {
  id: 3,
  session: 's',
  offset: 0,
  isSent: true,
  own: {},
  beforeUsd: 0,
  canLoad: true,
};

const update = (fields: object, sessionId = 's') =>
  `${JSON.stringify({ method: 'session/update', params: { sessionId, update: fields } })}\n`;
const chunk = (text: string, messageId?: string, kind = 'agent_message_chunk') =>
  update({ sessionUpdate: kind, messageId, content: { type: 'text', text } });
const tool = (sessionUpdate: string, fields: object) =>
  update({ sessionUpdate, toolCallId: 't', kind: 'execute', ...fields });

test('chunks are joined to messages, and a call has its arguments and its result', () => {
  const reader = conversationReader(prompt);
  const messages = reader.push(
    [
      'noise\n',
      chunk('Hm. ', undefined, 'agent_thought_chunk'),
      chunk('Hello ', 'm1'),
      update({ sessionUpdate: 'agent_message_chunk', content: { text: 'elsewhere' } }, 'other'),
      chunk('there.', 'm1'),
      tool('tool_call', { title: 'bash', rawInput: {} }),
      tool('tool_call_update', { title: 'make all', rawInput: { command: 'make all' } }),
      tool('tool_call_update', {
        status: 'completed',
        content: [{ type: 'content', content: { type: 'text', text: 'made' } }],
      }),
      chunk('Do', 'm2'),
    ].join(''),
  );
  expect(reader.partial).toBe('Do');
  const rest = reader.push(
    `${chunk('ne.', 'm2')}{"id":2,"result":{}}\n{"id":3,"result":{"stopReason":"end_turn"}}\n`,
  );
  expect([...messages, ...rest]).toEqual([
    { kind: 'thinking', text: 'Hm. ', omitted: 0 },
    { kind: 'text', text: 'Hello there.', omitted: 0 },
    {
      kind: 'tool-call',
      id: 't',
      name: 'execute',
      summary: 'make all',
      inner: false,
      text: '{"command":"make all"}',
      omitted: 0,
    },
    { kind: 'tool-result', call: 't', failed: false, inner: false, text: 'made', omitted: 0 },
    { kind: 'text', text: 'Done.', omitted: 0 },
  ]);
  expect(reader.isOver).toBe(true);
});

test('an error ends the turn with a note, and later lines belong to other turns', () => {
  const reader = conversationReader(prompt);
  const messages = reader.push(
    `{"id":3,"error":{"code":-32603,"message":"Internal error","data":{"details":"boom"}}}\n${chunk('late')}`,
  );
  expect(messages).toEqual([{ kind: 'note', text: 'Internal error: boom', omitted: 0 }]);
});
