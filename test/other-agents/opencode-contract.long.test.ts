// opencode as an executor, and the faults of its service.
import { expect, test } from 'vitest';
import { acpAgent } from '../../src/execute/acp/declaration.ts';
import { KNOWN_ACP } from '../../src/execute/acp/known.ts';
import { executorContract } from '../contracts/agent-executor.ts';
import { acpWorld, fresh } from './acp-world.ts';

const never = new Promise<void>(() => {});

const { can } = acpAgent({ name: 'opencode', branch: true, ...KNOWN_ACP.opencode });

executorContract('opencode', { can, namesSessions: true }, async () => {
  const { world, model, ask } = await acpWorld('opencode', ({ prompt }) =>
    prompt === 'never ends' ? { text: '', after: never } : 'the answer',
  );
  const heard = () => model.requests.map(({ lines }) => lines.map(words));
  return { ...world, begun: (count) => model.arrived(count), converse: { ask, heard } };
});

const words = (line: string) => line.replace(/^\w+: /, '');

test.each([
  ['opencode', 'not-logged-in', 401, 'Incorrect API key provided'],
  ['opencode', 'unknown-model', 404, 'The model `x` does not exist.'],
  ['codex-acp', 'not-logged-in', 401, 'Incorrect API key provided'],
  ['codex-acp', 'unknown-model', 404, 'The model `x` does not exist.'],
  ['codex-acp', 'overloaded', 500, 'boom'],
  ['codex-acp', 'usage-limit', 429, 'x'],
  ['claude-acp', 'not-logged-in', 401, 'invalid x-api-key'],
  ['gemini', 'not-logged-in', 401, 'API key not valid'],
] as const)(
  'a fault of the service of %s is a failure of the kind %s',
  async (name, kind, status, message) => {
    const { ask, world } = await acpWorld(name, () => ({
      status,
      error: {
        message,
        ...(kind === 'usage-limit' && { type: 'usage_limit_reached', resets_at: soon() }),
      },
    }));
    const outcome = await ask('Q', fresh());
    expect(outcome).toMatchObject({ kind: 'failed', failure: { kind } });
    if (outcome.kind === 'failed' && kind === 'usage-limit')
      expect(outcome.failure.resetsAt).toBeGreaterThan(Date.now());
    await world.executor.close();
  },
);

test('a turn of opencode with a model without a price costs as much as all of its requests', async () => {
  let requests = 0;
  const { ask, world } = await acpWorld('opencode', () => {
    requests += 1;
    const input = { command: `echo ${requests}`, description: 'x' };
    return requests <= 2 ? { text: '', tool: { name: 'bash', input } } : 'done';
  });
  const choices = { skipPermissions: true, model: 'm2' };
  const { account } = await ask('Q', fresh(), { choices });
  // opencode reports the tokens of the third one.
  expect(account.usage).toMatchObject({ inputTokens: 60, outputTokens: 20, cacheReadTokens: 40 });
  expect(account.cost).toEqual({
    ...{ usd: expect.closeTo((3 * (100 * 30 + 20 * 180)) / 1_000_000, 9), from: 'estimated' },
  });
  await world.executor.close();
});

const soon = () => Math.floor(Date.now() / 1000) + 3600;
