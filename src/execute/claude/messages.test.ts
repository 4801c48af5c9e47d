import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Happening, messageReader } from './messages.ts';

function read(...chunks: (Buffer | string)[]): Happening[] {
  const read = messageReader();
  return [...chunks, '\n'].flatMap(read);
}

const usage = {
  input_tokens: 10,
  output_tokens: 1,
  cache_creation_input_tokens: 3,
  cache_read_input_tokens: 4,
};
function assistant(content: object[], more: object = {}): string {
  const message = { id: 'm', model: 'claude-opus-5-5', role: 'assistant', content, usage };
  return JSON.stringify({ type: 'assistant', message, parent_tool_use_id: null, ...more });
}

const result = {
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: 'done',
  total_cost_usd: 0.5,
  session_id: 'S',
  stop_reason: 'end_turn',
  permission_denials: [],
};
const readResult: Happening = {
  kind: 'result',
  subtype: 'success',
  isError: false,
  text: 'done',
  costUsd: 0.5,
  stopReason: 'end_turn',
  denials: [],
  errors: [],
};

describe('one event', () => {
  const rows: [string, object | string, Happening[]][] = [
    [
      'the beginning',
      {
        claude_code_version: '2.1.325',
        session_id: 'S',
        subtype: 'init',
        model: 'opus',
        type: 'system',
      },
      [{ kind: 'init', model: 'opus', version: '2.1.325' }],
    ],
    ...(
      [
        ['/home/a/.claude/projects/-work/memory/', '/home/a/.claude/projects/-work'],
        ['C:\\a\\projects\\-work\\memory\\', 'C:\\a\\projects\\-work'],
        ['/somewhere/else/', undefined],
      ] as const
    ).map(([auto, transcripts]): [string, object, Happening[]] => [
      `notes in ${auto}`,
      { type: 'system', subtype: 'init', memory_paths: { auto } },
      [{ kind: 'init', model: '', version: '', ...(transcripts && { transcripts }) }],
    ]),
    [
      'an answer that begins',
      {
        type: 'stream_event',
        event: { type: 'message_start', message: { id: 'm', model: 'opus', content: [], usage } },
      },
      [
        { kind: 'message', id: 'm', isSynthetic: false },
        {
          kind: 'spent',
          message: 'm',
          model: 'opus',
          inputTokens: 10,
          cacheReadTokens: 4,
          cacheWriteTokens: 3,
          outputTokens: 1,
          characters: 2,
        },
      ],
    ],
    [
      'a part of an answer',
      {
        type: 'stream_event',
        event: { type: 'content_block_delta', delta: { type: 'text_delta', text: 'half' } },
      },
      [{ kind: 'written', characters: 4 }],
    ],
    [
      'a denial',
      {
        type: 'system',
        subtype: 'permission_denied',
        tool_name: 'Bash',
        message: 'needs approval',
      },
      [{ kind: 'permission-denied', tool: 'Bash' }],
    ],
    [
      'a retry',
      {
        type: 'system',
        subtype: 'api_retry',
        attempt: 2,
        retry_delay_ms: 599.5,
        error_status: 500,
      },
      [{ kind: 'api-retry', status: 500 }],
    ],
    [
      'a retry of a connection',
      { type: 'system', subtype: 'api_retry', attempt: 1, retry_delay_ms: 1, error_status: null },
      [{ kind: 'api-retry' }],
    ],
    [
      'a rate limit in seconds',
      {
        type: 'rate_limit_event',
        rate_limit_info: { status: 'rejected', resetsAt: 1_794_787_406 },
      },
      [{ kind: 'rate-limit', rejected: true, resetsAt: 1_794_787_406_000 }],
    ],
    [
      'a rate limit in milliseconds',
      {
        type: 'rate_limit_event',
        rate_limit_info: { status: 'allowed_warning', resetsAt: 1_794_787_406_000 },
      },
      [{ kind: 'rate-limit', rejected: false, resetsAt: 1_794_787_406_000 }],
    ],
    [
      'an accepted request',
      { type: 'control_response', response: { subtype: 'success', request_id: 'r1' } },
      [{ kind: 'control', request: 'r1' }],
    ],
    [
      'a rejected request',
      { type: 'control_response', response: { subtype: 'error', request_id: 'r1', error: 'no' } },
      [{ kind: 'control', request: 'r1', error: 'no' }],
    ],
    ['a result', result, [readResult]],
    [
      'a result in another order',
      Object.fromEntries(Object.entries(result).reverse()),
      [readResult],
    ],
    ['an unknown type', { type: 'command_lifecycle', state: 'queued' }, []],
    ['an unknown subtype', { type: 'system', subtype: 'task_started' }, []],
    [
      'a tool result that looks like a result',
      { type: 'user', message: { content: JSON.stringify(result) } },
      [{ kind: 'input' }],
    ],
    [
      'the result of a tool',
      { type: 'user', uuid: 'u', message: { content: [{ type: 'tool_result' }] } },
      [{ kind: 'input' }, { kind: 'checkpoint', uuid: 'u' }],
    ],
    ['input to a subagent', { type: 'user', message: {}, parent_tool_use_id: 'toolu_1' }, []],
    ['other text', 'Warning: something', []],
    ['a number', '42', []],
    ['null', 'null', []],
    ['an event that was cut off', '{"type":"result","is_err', []],
    ['an empty line', '', []],
  ];
  it.each(rows)('%s', (_, event, expected) => {
    const line = typeof event === 'string' ? event : JSON.stringify(event);
    expect(read(`${line}\n`)).toEqual(expected);
    expect(read(`${line}\r\n`)).toEqual(expected);
    expect(read(line)).toEqual(expected);
  });
});

describe('an answer of the model', () => {
  it('has text, tool calls and usage', () => {
    const blocks = [
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', name: 'Bash', input: { description: 'd', command: 'ls  \n -l' } },
    ];
    expect(read(assistant(blocks))).toEqual([
      { kind: 'message', id: 'm', isSynthetic: false },
      { kind: 'text', text: 'I look.' },
      { kind: 'tool-use', name: 'Bash', summary: 'ls -l', call: '' },
      {
        kind: 'spent',
        message: 'm',
        model: 'claude-opus-5-5',
        inputTokens: 10,
        cacheReadTokens: 4,
        cacheWriteTokens: 3,
        outputTokens: 1,
        characters: JSON.stringify(blocks).length,
      },
    ]);
  });

  it('is a checkpoint, unless it calls a tool', () => {
    const cuts = (block: object) =>
      read(assistant([block], { uuid: 'u' })).filter(({ kind }) => kind === 'checkpoint');
    expect(cuts({ type: 'text', text: 'x' })).toEqual([{ kind: 'checkpoint', uuid: 'u' }]);
    expect(cuts({ type: 'tool_use', name: 'Bash', input: {} })).toEqual([]);
  });

  it('of a subagent costs money, but is not text of the agent', () => {
    const line = assistant([{ type: 'text', text: 'x' }], { parent_tool_use_id: 'toolu_1' });
    expect(read(line).map(({ kind }) => kind)).toEqual(['spent']);
  });

  it('that is synthetic does not count as an answer', () => {
    const message = {
      id: 's',
      model: '<synthetic>',
      content: [{ type: 'text', text: 'API Error: 500' }],
    };
    const event = { type: 'assistant', message, error: 'server_error' };
    expect(read(JSON.stringify(event))).toEqual([
      { kind: 'message', id: 's', isSynthetic: true },
      { kind: 'api-error', error: 'server_error' },
    ]);
  });

  it.each([
    [{ file_path: '/a/b' }, '/a/b'],
    [{ unknown: 1 }, '{"unknown":1}'],
    [{ command: 'x'.repeat(1000) }, `${'x'.repeat(119)}…`],
    [undefined, '{}'],
  ])('summarises %o in one short line', (input, summary) => {
    const [, call] = read(assistant([{ type: 'tool_use', id: 'c', name: 'T', input }]));
    expect(call).toEqual({ kind: 'tool-use', name: 'T', summary, call: 'c' });
  });
});

it('reports denied tools and the cause of an error', () => {
  const [read1] = read(
    JSON.stringify({
      ...result,
      is_error: true,
      subtype: 'error_max_budget_usd',
      result: undefined,
      api_error_status: 529,
      api_error: 'connection_failed',
      errors: ['Reached maximum budget'],
      permission_denials: [
        { tool_use_id: 'c', tool_name: 'Bash', tool_input: { command: 'git push' } },
      ],
    }),
  );
  expect(read1).toEqual({
    kind: 'result',
    subtype: 'error_max_budget_usd',
    isError: true,
    costUsd: 0.5,
    stopReason: 'end_turn',
    status: 529,
    apiError: 'connection_failed',
    errors: ['Reached maximum budget'],
    denials: [{ call: 'c', tool: 'Bash', summary: 'git push' }],
  });
});

it('reads a result without is_error as an error', () => {
  expect(read('{"type":"result"}')).toMatchObject([{ kind: 'result', isError: true }]);
});

it('gives the same result for any chunks', () => {
  const stream = [
    JSON.stringify(result),
    'noise',
    assistant([{ type: 'text', text: 'grüße 🎈' }]),
    '',
    JSON.stringify({ ...result, result: 'again' }),
  ].join('\n');
  const bytes = Buffer.from(stream);
  const whole = read(stream);
  expect(whole.filter(({ kind }) => kind === 'result')).toHaveLength(2);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (sizes) => {
      const chunks: Buffer[] = [];
      for (let start = 0, turn = 0; start < bytes.length; turn++) {
        const size = sizes[turn % sizes.length] ?? 1;
        chunks.push(bytes.subarray(start, start + size));
        start += size;
      }
      expect(read(...chunks)).toEqual(whole);
    }),
  );
});

it('never throws', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.json())), (lines) => {
      read(lines.join('\n'));
    }),
  );
});

it('reads a line of many megabytes in small pieces', () => {
  const line = JSON.stringify({ ...result, result: 'x'.repeat(5_000_000) });
  const chunks = line.match(/[\s\S]{1,1000}/g) ?? [];
  const [found] = read(...chunks, '\n');
  expect(found).toMatchObject({ kind: 'result', text: 'x'.repeat(5_000_000) });
});
