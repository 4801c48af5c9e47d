import { expect, test } from 'vitest';
import type { PayloadMatch } from '../model/trigger.ts';
import { UserError } from '../model/user-error.ts';
import { type Deliveries, type KeptWebhook, takeDeliveries } from './take-deliveries.ts';

function webhook(name: string, match: PayloadMatch = {}, secret?: string): KeptWebhook {
  return {
    key: { project: '/p', workflow: '/p/flow', name: `webhook ${name}` },
    ...{ path: 'flow', workflowName: 'flow', isApproved: true },
    trigger: { kind: 'webhook', name, match, overlap: 'queue', ...(secret && { secret }) },
  };
}

function stage(changed: Partial<Deliveries> = {}) {
  const recorded: string[] = [];
  const reported: string[] = [];
  const known = new Set<string>();
  let now = 0;
  const hooks = [webhook('open'), webhook('some', { action: 'opened' }), webhook('shut', {}, 'S')];
  const take = takeDeliveries({
    webhooks: () => new Map(hooks.map((one) => [one.trigger.name, one])),
    record: async ({ trigger }, { id, text }) => {
      recorded.push(`${trigger.name} ${id} ${text}`);
      const how = known.has(id) ? 'known' : 'recorded';
      known.add(id);
      return how;
    },
    secret: async () => 'secret',
    now: () => now,
    report: (text) => reported.push(text),
    ...changed,
  });
  return {
    recorded,
    reported,
    later: (ms: number) => {
      now += ms;
    },
    post: (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
      take({ path, headers, body: Buffer.from(JSON.stringify(body)) }),
  };
}

const signed = (id: string) => ({ 'x-gitlab-token': 'secret', 'idempotency-key': id });

test('a delivery is accepted once, and a repeated one is a duplicate', async () => {
  const { post, recorded } = stage();
  expect(await post('/hooks/shut', { a: 1 }, signed('x'))).toEqual({
    status: 202,
    body: { status: 'accepted' },
  });
  expect(await post('/hooks/shut', { a: 1 }, signed('x'))).toEqual({
    status: 200,
    body: { status: 'duplicate' },
  });
  expect(recorded).toEqual(['shut x {"a":1}', 'shut x {"a":1}']);
});

test('a payload that does not match is no occasion, and the log says so', async () => {
  const { post, recorded, reported } = stage();
  const headers = { 'webhook-id': 'a' };
  expect(await post('/hooks/some', { action: 'closed' }, headers)).toEqual({
    status: 202,
    body: { status: 'ignored' },
  });
  expect(recorded).toEqual([]);
  expect(reported).toEqual(['A delivery to /hooks/some was ignored: its payload does not match.']);
});

test.each([
  '/',
  '/hooks',
  '/hooks/',
  '/hooks/none',
  '/hooks/open/',
  '/hooks/../hooks/open',
  '//hooks/open',
  '/hooks/%6fpen',
  '/hooks/__proto__',
  '/hooks/shut',
  '/answers',
  '*',
])('%s gets the reply of every refusal', async (path) => {
  const { post, recorded } = stage();
  const { status, body } = await post(path, {});
  expect([status, body]).toMatchObject([401, { error: { code: 'refused' } }]);
  expect(recorded).toEqual([]);
});

test('a delivery that cannot be recorded fails, and the log has the reason', async () => {
  const { post, reported } = stage({ record: () => Promise.reject(new Error('the disk is full')) });
  await expect(post('/hooks/open', {})).rejects.toThrow();
  expect(reported).toEqual(['A delivery to /hooks/open failed: the disk is full']);
});

test('strangers cannot fill the log, and their text is cleaned', async () => {
  const { post, reported, later } = stage();
  for (let n = 0; n < 1_000; n++) await post('/hooks/\u001b[31m', {});
  expect(reported.length).toBe(20);
  expect(reported.join('')).not.toContain('\u001b');
  later(60_000);
  await post('/hooks/none', {});
  expect(reported.slice(20)).toEqual([
    '980 more deliveries were refused or ignored in that minute.',
    'A delivery to /hooks/none was refused: there is no such webhook.',
  ]);
});

test.each([
  ['wrong-code', 404],
  ['expired-code', 410],
  ['too-many-codes', 429],
  ['answered', 409],
  ['usage', 400],
])('an answer that is refused with %s gets %i', async (code, status) => {
  const take = () => Promise.reject(new UserError(code, 'm', 'r'));
  const { post } = stage({ answers: { secret: 'A', take } });
  const reply = await post('/answers', {}, signed('x'));
  expect(reply).toEqual({ status, body: { error: { code, message: 'm', remedy: 'r' } } });
});

test('an answer needs the secret of answers', async () => {
  let taken = 0;
  const take = async () => {
    taken++;
    return { run: 'r', project: '/p', agent: 'main', answer: 'allow' as const, isCarried: true };
  };
  const { post } = stage({
    answers: { secret: 'A', take },
    secret: async (name) => (name === 'A' ? 'other' : 'secret'),
  });
  expect((await post('/answers', { code: 'c' }, signed('x'))).status).toBe(401);
  expect(taken).toBe(0);
  const right = { 'x-gitlab-token': 'other', 'idempotency-key': 'x' };
  expect(await post('/answers', { code: 'c' }, right)).toEqual({
    status: 200,
    body: { status: 'answered', answer: 'allow' },
  });
});
