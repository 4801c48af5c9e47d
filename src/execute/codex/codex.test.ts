import { describe, expect, test } from 'vitest';
import { sharedRules } from '../agents/agent-choices.ts';
import { DEAREST, PRICES } from '../agents/price-table.ts';
import { priced, usageSince } from '../agents/token-price.ts';
import { codexArguments, sandboxOf } from './command.ts';
import { failureOf } from './failures.ts';
import { messageReader, readRollout } from './messages.ts';

const { combine, tightened } = sharedRules('codex');

describe('the arguments', () => {
  const turn = {
    ...{ model: undefined, effort: undefined, cwd: '/p' },
    ...{ protects: [], hides: [], opens: [], roots: [], commandFiles: [] },
  } as const;

  test.each([
    [{ use: 'fresh' }, ['-']],
    [{ use: 'continue', thread: 't1' }, ['resume', 't1', '-']],
    [{ use: 'branch', thread: 't1' }, ['fork', 't1', '-']],
  ] as const)('%j', (session, end) => {
    const args = codexArguments({ ...turn, session, sandbox: 'read-only' });
    expect(args.slice(-end.length)).toEqual(end);
    const rules = args.find((arg) => arg.startsWith('permissions.'));
    expect(rules).toBe('permissions.raymond.filesystem={":root"="read"}');
  });

  test('a model and an effort are values, and never options', () => {
    const session = { use: 'fresh' } as const;
    const named = { model: 'gpt-5', effort: 'high', sandbox: 'danger-full-access' } as const;
    const args = codexArguments({ ...turn, session, ...named });
    expect(args).toContain('model="gpt-5"');
    expect(args).toContain('model_reasoning_effort="high"');
  });

  test('protected files can be read only, even with odd names', () => {
    const session = { use: 'fresh' } as const;
    const odd = '/p/a "b"\\c';
    const files = {
      protects: ['/p/.raymond', '/user', odd],
      hides: ['/user'],
      opens: ['/user/tasks/a'],
      roots: ['/p'],
      commandFiles: ['.npmrc'],
    };
    const args = codexArguments({ ...turn, session, sandbox: 'workspace-write', ...files });
    const rules = args.find((arg) => arg.startsWith('permissions.')) ?? '';
    expect(rules).toContain('"/p/.raymond"="read"');
    expect(rules).toContain(`${JSON.stringify(odd)}="read"`);
    expect(rules).toContain('"/user"="read"');
    expect(rules).toContain('"/user/tasks/a"="write"');
    for (const folder of ['/p', '/user/tasks/a'])
      expect(rules).toContain(`"${folder}/.npmrc"="read"`);
  });
});

describe('permissions', () => {
  const of = (run: object, state: object = {}) =>
    sandboxOf(
      Object.assign(
        { permissionMode: 'acceptEdits', skipPermissions: false },
        combine({ run: { ...run }, state: { ...state }, tag: {} }),
      ),
    );

  test.each([
    [{}, {}, 'workspace-write'],
    [{ permissionMode: 'plan' }, {}, 'read-only'],
    [{ permissionMode: 'plan' }, { permissionMode: 'acceptEdits' }, 'read-only'],
    [{}, { permissionMode: 'plan' }, 'read-only'],
    [{ skipPermissions: true }, {}, 'danger-full-access'],
    [{ skipPermissions: true }, { permissionMode: 'plan' }, 'read-only'],
    [{ permissionMode: 'unheardOf' }, {}, 'read-only'],
  ])('a run with %j and a state with %j: %s', (run, state, sandbox) => {
    expect(of(run, state)).toBe(sandbox);
  });

  test.each([
    [{ skipPermissions: true }, {}, 'permissions are no longer skipped'],
    [{}, { permissionMode: 'plan' }, 'the permission mode is plan'],
    [{}, { model: 'o3' }, 'the model is o3'],
    [{ permissionMode: 'plan' }, {}, undefined],
  ])('from %j to %j: %s', (was, now, why) => expect(tightened(was, now)).toBe(why));

  test('a choice that looks like an option is refused', () => {
    expect(() => combine({ run: { model: '--help' }, state: {}, tag: {} })).toThrow('model');
  });
});

describe('messages', () => {
  test('lines may arrive in parts, and other text is ignored', () => {
    const read = messageReader();
    expect(read('noise\n{"type":"thread.started","thr')).toEqual([]);
    expect(read('ead_id":"t1"}\n{"type":"unheard.of"}\n')).toEqual([{ kind: 'thread', id: 't1' }]);
    const item = { type: 'command_execution', command: 'ls' };
    expect(read(`${JSON.stringify({ type: 'item.started', item })}\n`)).toEqual([
      { kind: 'tool', name: 'command_execution', summary: 'ls' },
    ]);
  });

  test('a record says the newest model and the newest totals', () => {
    const count = (input: number) => ({
      type: 'event_msg',
      payload: {
        type: 'token_count',
        info: { total_token_usage: { input_tokens: input, output_tokens: 1 } },
      },
    });
    const context = (model: string) => ({ type: 'turn_context', payload: { model } });
    const lines = [context('a'), count(1), context('b'), count(2)].map((one) =>
      JSON.stringify(one),
    );
    expect(readRollout([...lines, '{"torn'].join('\n'))).toEqual({
      model: 'b',
      totals: usage(2, 0, 1),
    });
    expect(readRollout('')).toEqual({});
  });
});

function usage(inputTokens: number, cacheReadTokens: number, outputTokens: number) {
  return { inputTokens, cacheReadTokens, outputTokens, cacheWriteTokens: 0 };
}

describe('cost', () => {
  const tokens = usage(600_000, 400_000, 100_000);

  test.each([
    ['gpt-5.1-codex', 0.6 * 1.25 + 0.4 * 0.125 + 1],
    ['gpt-5-mini-2026-01-31', 0.6 * 0.25 + 0.4 * 0.025 + 0.2],
    ['openai/gpt-5.6-sol', 0.6 * 5 + 0.4 * 0.5 + 3],
    // A name that only begins like a known one may belong to a dearer model.
    ['gpt-5.9', 0.6 * 30 + 0.4 * 30 + 18],
    ['gpt-5-ultra', 0.6 * 30 + 0.4 * 30 + 18],
    ['unheard-of', 0.6 * 30 + 0.4 * 30 + 18],
    [undefined, 0.6 * 30 + 0.4 * 30 + 18],
  ])('of %s', (model, usd) => {
    const cost = priced(tokens, model);
    expect(cost.from).toBe('priced');
    expect(cost.usd).toBeCloseTo(usd, 9);
  });

  test('a table of the user overrides the known prices', () => {
    const own = {
      'gpt-5': { input: 1, cached: 1, output: 0 },
      'gpt-5.1-codex': { input: 2, cached: 2, output: 0 },
    };
    expect(priced(tokens, 'gpt-5.9', own).usd).toBeCloseTo(1, 9);
    expect(priced(tokens, 'gpt-5.1-codex-max', own).usd).toBeCloseTo(2, 9);
  });

  test('no model of the table is dearer than the one that stands for unknown models', () => {
    for (const { input, cached, output } of PRICES.values()) {
      expect(Math.max(input, cached)).toBeLessThanOrEqual(DEAREST.input);
      expect(cached).toBeLessThanOrEqual(input);
      expect(output).toBeLessThanOrEqual(DEAREST.output);
    }
  });

  test('only the tokens since the last turn count, unless the count began again', () => {
    const before = usage(60, 40, 20);
    const now = usage(100, 50, 25);
    expect(usageSince(before, now)).toEqual(usage(40, 10, 5));
    expect(usageSince(undefined, now)).toEqual(now);
    expect(usageSince(now, before)).toEqual(before);
  });
});

describe('failures', () => {
  const now = new Date(2026, 10, 16, 18, 0).getTime();

  test.each([
    ['unexpected status 401 Unauthorized: Incorrect API key provided', 'not-logged-in'],
    ['exceeded retry limit, last status: 429 Too Many Requests', 'overloaded'],
    ['Quota exceeded. Check your plan and billing details.', 'no-credit'],
    ['We’re currently experiencing high demand, which may cause temporary errors.', 'overloaded'],
    ['The model `nope` does not exist or you do not have access to it.', 'unknown-model'],
    ["Codex ran out of room in the model's context window.", 'refused'],
    ['stream disconnected before completion: Transport error', 'connection-lost'],
    ['thread/resume failed: no rollout found for thread id x', 'session-gone'],
    ['thread x already has an active writer', 'crashed'],
    ['{"error":{"message":"bad request thing","type":"invalid_request_error"}}', 'refused'],
  ])('%s', (message, kind) => expect(failureOf(message, now).kind).toBe(kind));

  test.each([
    ['try again at 7:10 PM.', new Date(2026, 10, 16, 19, 10)],
    ['try again at 7:10 AM.', new Date(2026, 10, 17, 7, 10)],
    ['try again at Nov 20th, 2026 12:05 AM.', new Date(2026, 10, 20, 0, 5)],
    ['try again later.', undefined],
  ])('a usage limit: %s', (text, until) => {
    const failure = failureOf(`You’ve hit your usage limit. Upgrade to Pro or ${text}`, now);
    expect(failure.kind).toBe('usage-limit');
    expect(failure.resetsAt).toBe(until?.getTime());
  });
});
