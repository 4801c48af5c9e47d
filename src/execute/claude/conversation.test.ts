import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { MOST_CHARACTERS, messageShape } from '../../model/conversation.ts';
import { conversationReader } from './conversation.ts';

const line = (value: object) => `${JSON.stringify(value)}\n`;
const assistant = (content: readonly object[], more: object = {}) =>
  line({ type: 'assistant', message: { id: 'm', model: 'x', content }, ...more });
const user = (content: unknown) =>
  line({ type: 'user', message: { content: [{ type: 'tool_result', ...(content as object) }] } });
const result = (more: object = {}) => line({ type: 'result', subtype: 'success', ...more });
const bash = { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } };

const TABLE: readonly (readonly [what: string, text: string, messages: readonly object[]])[] = [
  ['words', assistant([{ type: 'text', text: 'hello' }]), [{ kind: 'text', text: 'hello' }]],
  [
    'thoughts',
    assistant([{ type: 'thinking', thinking: 'hm' }]),
    [{ kind: 'thinking', text: 'hm' }],
  ],
  [
    'a tool call',
    assistant([bash]),
    [{ kind: 'tool-call', id: 't1', name: 'Bash', summary: 'ls', text: '{"command":"ls"}' }],
  ],
  [
    'a tool call of a subagent',
    assistant([bash, { type: 'text', text: 'inside' }], { parent_tool_use_id: 't0' }),
    [{ kind: 'tool-call', inner: true }],
  ],
  [
    'the usage of an answer, when it is complete',
    line({
      type: 'stream_event',
      event: {
        type: 'message_start',
        message: { id: 'm', model: 'x-haiku', usage: { input_tokens: 90, output_tokens: 1 } },
      },
    }) +
      assistant([bash], { timestamp: '2026-11-18T07:00:02.500Z' }) +
      line({
        type: 'stream_event',
        event: { type: 'message_delta', usage: { output_tokens: 200 } },
      }) +
      line({
        type: 'user',
        timestamp: '2026-11-18T07:00:05.000Z',
        message: { content: [{ type: 'tool_result', tool_use_id: 't1', content: 'a' }] },
      }),
    [
      { kind: 'tool-call', at: Date.parse('2026-11-18T07:00:02.500Z') },
      {
        ...{ kind: 'turn', tokens_read: 90, tokens_written: 200, cost_usd: 0.00109 },
        at: Date.parse('2026-11-18T07:00:02.500Z'),
      },
      { kind: 'tool-result', at: Date.parse('2026-11-18T07:00:05.000Z') },
    ],
  ],
  [
    'a result as text',
    user({ tool_use_id: 't1', content: 'a b' }),
    [{ kind: 'tool-result', call: 't1', failed: false, text: 'a b' }],
  ],
  [
    'a result with parts',
    user({
      tool_use_id: 't1',
      is_error: true,
      content: [{ type: 'text', text: 'a' }, { type: 'image' }],
    }),
    [{ kind: 'tool-result', failed: true, text: 'a\n[image]' }],
  ],
  [
    'an error of the agent itself',
    line({
      type: 'assistant',
      message: { model: '<synthetic>', content: [{ type: 'text', text: 'no' }] },
    }),
    [{ kind: 'note', text: 'no' }],
  ],
  [
    'a denied tool',
    line({
      type: 'system',
      subtype: 'permission_denied',
      tool_name: 'Bash',
      tool_use_id: 't1',
      message: 'Not allowed.',
    }),
    [{ kind: 'note', denies: 't1', text: 'Denied: Bash. Not allowed.' }],
  ],
  [
    'a failed turn',
    result({ is_error: true, result: 'broken' }),
    [{ kind: 'note', text: 'broken' }],
  ],
  ['lines after the result', result() + assistant([{ type: 'text', text: 'later' }]), []],
  ['other text', 'warning: x\n{"type":"unknown"}\n{]\n\n', []],
];

test.each(TABLE)('%s', (_what, text, messages) => {
  const read = conversationReader().push(text);
  expect(read).toHaveLength(messages.length);
  expect(read).toMatchObject(messages);
});

test('a long text is shortened, and says by how much', () => {
  const text = `${'x'.repeat(MOST_CHARACTERS - 1)}😀y`;
  const [message] = conversationReader().push(assistant([{ type: 'text', text }]));
  expect(message).toEqual({ kind: 'text', text: 'x'.repeat(MOST_CHARACTERS - 1), omitted: 3 });
});

test('words that are being written are partial until their message arrives', () => {
  const reader = conversationReader();
  const part = (text: string) =>
    line({ type: 'stream_event', event: { type: 'content_block_delta', delta: { text } } });
  reader.push(part('hel') + part('lo'));
  expect(reader.partial).toBe('hello');
  reader.push(assistant([{ type: 'text', text: 'hello' }]));
  expect(reader.partial).toBe('');
  expect(reader.isOver).toBe(false);
  reader.push(result());
  expect(reader.isOver).toBe(true);
});

const turnSchema = z.looseObject({ lines: z.array(z.string()) });
const turns = readFileSync(new URL('recorded-turns.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((text) => z.parse(turnSchema, JSON.parse(text)).lines.join('\n'));

test('recorded turns of both versions have the published form, however they are cut', () => {
  expect(turns.length).toBeGreaterThan(5);
  fc.assert(
    fc.property(fc.constantFrom(...turns), fc.array(fc.nat(5_000)), (turn, cuts) => {
      const text = `${turn}\n`;
      const whole = conversationReader().push(text);
      const reader = conversationReader();
      const places = [
        0,
        ...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b),
        text.length,
      ];
      const parts = places.slice(1).map((to, i) => text.slice(places[i], to));
      expect(parts.flatMap((part) => reader.push(part))).toEqual(whole);
      for (const message of whole) expect(messageShape.safeParse(message).success).toBe(true);
    }),
  );
});

test('no text makes it throw', () => {
  fc.assert(fc.property(fc.json(), (text) => void conversationReader().push(`${text}\n`)));
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.constantFrom('assistant', 'user', 'system', 'stream_event', 'result'),
      (value, type) => {
        conversationReader().push(line({ type, message: value, event: value, content: value }));
        conversationReader().push(line({ type, message: { content: value }, errors: value }));
      },
    ),
  );
});
