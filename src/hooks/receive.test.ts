import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Reply } from './listener.ts';
import { type CheckedDelivery, type Door, receive } from './receive.ts';

const NOW = 1_700_000_000_000;
const BODY = '{"action":"opened"}';
const SECRET = 's3cret';

function standard(id: string, body = BODY, seconds = NOW / 1000, secret = SECRET) {
  const sum = createHmac('sha256', secret).update(`${id}.${seconds}.${body}`).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': `${seconds}`,
    'webhook-signature': `v1,${sum}`,
  };
}

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

async function sent(who: Door['who'] | undefined, { headers = {}, body = BODY }: Sent) {
  const taken: CheckedDelivery[] = [];
  const reasons: string[] = [];
  const take = async (delivery: CheckedDelivery): Promise<Reply> => {
    taken.push(delivery);
    return { status: 202, body: {} };
  };
  const reply = await receive(
    who && { who, take },
    { headers, body: Buffer.from(body) },
    NOW,
    (why) => reasons.push(why),
  );
  return { reply, taken, reasons };
}

const signed: Door['who'] = { kind: 'signed', secret: async () => SECRET };
const anyone: Door['who'] = { kind: 'anyone' };

test('a signed delivery is taken with its id, its text and its payload', async () => {
  const body = ' {"action" : "opened"}\n';
  const { reply, taken } = await sent(signed, { headers: standard('msg_1', body), body });
  expect(reply.status).toBe(202);
  expect(taken).toEqual([{ id: 'msg_1', text: body, payload: { action: 'opened' } }]);
});

test('a sender who cannot sign cannot distinguish a webhook from one that does not exist', async () => {
  const unknown = await sent(undefined, { headers: standard('a') });
  expect(unknown.reply.status).toBe(401);
  expect(unknown.reasons).toEqual(['there is no such webhook']);
  const refused: [Door['who'], Sent, string][] = [
    [signed, {}, 'not signed'],
    [signed, { headers: standard('a', BODY, NOW / 1000, 'guess') }, 'does not match'],
    [signed, { headers: standard('a'), body: '{"action":"closed"}' }, 'does not match'],
    [signed, { headers: standard('a', BODY, NOW / 1000 - 301) }, 'more than 5 minutes ago'],
    [signed, { headers: standard('a', BODY, NOW / 1000 + 301) }, 'in the future'],
    [signed, { headers: { 'x-gitlab-token': 'guess', 'idempotency-key': 'a' } }, 'token'],
    [signed, { headers: {}, body: 'not JSON' }, 'not signed'],
    [{ ...signed, scheme: 'github' }, { headers: standard('a') }, 'X-GitHub-Delivery'],
    [{ kind: 'signed', secret: async () => undefined }, { headers: standard('a') }, 'no value'],
    [{ kind: 'signed', secret: async () => '' }, { headers: standard('a') }, 'empty'],
  ];
  for (const [who, delivery, why] of refused) {
    const { reply, taken, reasons } = await sent(who, delivery);
    expect(reply, why).toEqual(unknown.reply);
    expect(taken).toEqual([]);
    expect(reasons).toEqual([expect.stringContaining(why)]);
    expect(JSON.stringify(reply)).not.toContain(SECRET);
  }
});

test("the signature of GitHub's documented example is right, and its body is not JSON", async () => {
  const secret = "It's a Secret to Everybody";
  const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
  const headers = { 'x-hub-signature-256': signature, 'x-github-delivery': 'd' };
  const who: Door['who'] = { kind: 'signed', secret: async () => secret };
  const right = await sent(who, { headers, body: 'Hello, World!' });
  expect(right.reply).toMatchObject({ status: 400, body: { error: { code: 'bad-payload' } } });
  const forged = await sent(who, { headers, body: 'Hello, World?' });
  expect(forged.reply.status).toBe(401);
});

test.each([
  '',
  '{',
  '{"a":1}{',
  '\uFEFF',
  Buffer.from([0x22, 0xff, 0x22]),
  'NaN',
  '{"a":"\u0000"}',
])('a body that is not JSON in UTF-8 is refused: %j', async (body) => {
  const { reply, taken } = await sent(anyone, { body });
  expect(reply.status).toBe(400);
  expect(taken).toEqual([]);
});

test('a body that is nested very deep is only data', async () => {
  const deep = '['.repeat(500_000) + ']'.repeat(500_000);
  const { taken } = await sent(anyone, { body: deep });
  expect(taken.map(({ text }) => text === deep)).toEqual([true]);
});

test('an unsigned delivery has the id that its sender names, or one of its own', async () => {
  const named = await sent(anyone, { headers: { 'webhook-id': 'a' } });
  expect(named.taken).toMatchObject([{ id: 'a' }]);
  const wild = await sent(anyone, { headers: { 'webhook-id': '../a\n' } });
  const none = await sent(anyone, {});
  const ids = [...wild.taken, ...none.taken].map(({ id }) => id);
  expect(ids).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), expect.not.stringMatching('^$')]);
  expect(new Set(ids).size).toBe(2);
});
