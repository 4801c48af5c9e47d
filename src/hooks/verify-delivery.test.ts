import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type Delivery, verifyDelivery } from './verify-delivery.ts';

const NOW = 1_700_000_000_000;
const SECONDS = NOW / 1000;
const BODY = '{"action":"opened"}';

const accepted = (id: string) => ({ ok: true, id });
const refused = (why: string | RegExp) => ({ ok: false, why: expect.stringMatching(why) });
const verify = (delivery: Partial<Delivery>) =>
  verifyDelivery({ headers: {}, body: BODY, secret: 's3cret', now: NOW, ...delivery });

describe('GitHub', () => {
  // The example of GitHub's documentation.
  const secret = "It's a Secret to Everybody";
  const body = 'Hello, World!';
  const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
  const id = '72d3162e-cc78-11e3-81ab-4c9367dc0958';
  const headers = { 'X-Hub-Signature-256': signature, 'X-GitHub-Delivery': id };

  test('the documented example is accepted, as text and as bytes, with headers in any case', () => {
    expect(verify({ secret, body, headers })).toEqual(accepted(id));
    expect(verify({ secret, body: Buffer.from(body), headers })).toEqual(accepted(id));
    const lower = { 'x-hub-signature-256': signature, 'x-github-delivery': id };
    expect(verify({ secret, body, headers: lower, scheme: 'github' })).toEqual(accepted(id));
  });

  test.each<[what: string, Partial<Delivery>, why: RegExp]>([
    ['another body', { body: 'Hello, World?' }, /does not match/],
    ['another secret', { secret: 'guess' }, /does not match/],
    ['an empty secret', { secret: ' ' }, /secret .* is empty/],
    ['no id', { headers: { 'X-Hub-Signature-256': signature } }, /X-GitHub-Delivery/],
    ['no signature', { headers: { 'X-GitHub-Delivery': id }, scheme: 'github' }, /X-Hub-Sig/],
    ['no signature at all', { headers: { 'X-GitHub-Delivery': id } }, /not signed/],
    ['a shortened signature', withSignature(signature.slice(0, -2)), /malformed/],
    ['the older signature', withSignature(`sha1=${signature.slice(7, 47)}`), /malformed/],
    ['capital letters', withSignature(signature.toUpperCase()), /malformed/],
    ['two signatures', withSignature([signature, signature]), /repeated/],
    ['two joined signatures', withSignature(`${signature}, ${signature}`), /repeated/],
    ['two ids', { headers: { ...headers, 'X-GitHub-Delivery': [id, 'b'] } }, /repeated/],
    ['two joined ids', { headers: { ...headers, 'X-GitHub-Delivery': `${id}, b` } }, /repeated/],
    ['two cases', { headers: { ...headers, 'x-github-delivery': 'b' } }, /repeated/],
    ['another scheme', { scheme: 'gitlab' }, /X-Gitlab-Token/],
  ])('%s is refused', (_what, changed, why) => {
    expect(verify({ secret, body, headers, ...changed })).toEqual(refused(why));
  });

  function withSignature(value: string | readonly string[]): Partial<Delivery> {
    return { headers: { 'X-Hub-Signature-256': value, 'X-GitHub-Delivery': 'a' } };
  }
});

describe('Standard Webhooks', () => {
  const key = Buffer.from('0123456789abcdef01234567');
  const secret = `whsec_${key.toString('base64')}`;
  const sign = (id: string, time: number | string, body = BODY, with_ = key) =>
    `v1,${createHmac('sha256', with_).update(`${id}.${time}.${body}`).digest('base64')}`;
  const signed = (id: string, time: number | string, signature = sign(id, time)) => ({
    headers: { 'webhook-id': id, 'webhook-timestamp': `${time}`, 'webhook-signature': signature },
  });

  test('the example of the specification is accepted', () => {
    // https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
    const delivery = {
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      body: '{"test": 2432232314}',
      now: 1_614_265_330_000,
      headers: {
        'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        'webhook-timestamp': '1614265330',
        'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      },
    };
    expect(verify(delivery)).toEqual(accepted('msg_p5jXN8AQM9LWM0D4loKWxJek'));
  });

  test('one of several signatures is enough, and those of other kinds do not count', () => {
    const several = `v1a,AAAA v1,${'A'.repeat(43)}= ${sign('a', SECONDS)}`;
    expect(verify({ secret, ...signed('a', SECONDS, several) })).toEqual(accepted('a'));
    const asymmetric = sign('a', SECONDS).replace('v1,', 'v1a,');
    expect(verify({ secret, ...signed('a', SECONDS, asymmetric) })).toEqual(refused(/not match/));
  });

  test('a secret without the prefix is taken as it is', () => {
    const signature = sign('a', SECONDS, BODY, Buffer.from('plain words'));
    const delivery = { secret: 'plain words', ...signed('a', SECONDS, signature) };
    expect(verify(delivery)).toEqual(accepted('a'));
  });

  test('a signature counts even if a token of GitLab comes along', () => {
    const { headers } = signed('a', SECONDS, 'v1,AAAA');
    const both = { ...headers, 'X-Gitlab-Token': secret, 'Idempotency-Key': 'a' };
    expect(verify({ secret, headers: both })).toEqual(refused(/signature does not match/));
  });

  test.each([-300, 0, 300])('a delivery signed %d seconds ago is accepted', (age) => {
    expect(verify({ secret, ...signed('a', SECONDS - age) })).toEqual(accepted('a'));
  });

  test.each<[what: string, Partial<Delivery>, why: RegExp]>([
    ['late', signed('a', SECONDS - 301), /more than 5 minutes ago/],
    ['early', signed('a', SECONDS + 301), /in the future/],
    ['late with a forged time', signed('a', SECONDS, sign('a', SECONDS - 301)), /not match/],
    ['replayed under another id', signed('b', SECONDS, sign('a', SECONDS)), /not match/],
    ['forged', signed('a', SECONDS, `v1,${'A'.repeat(43)}=`), /not match/],
    ['changed', { ...signed('a', SECONDS), body: '{"action":"closed"}' }, /not match/],
    ['of another sender', { ...signed('a', SECONDS), secret: 'whsec_AAAA' }, /not match/],
    ['with a broken secret', { ...signed('a', SECONDS), secret: 'whsec_?' }, /not base64/],
    ['with an empty secret', { ...signed('a', SECONDS), secret: '' }, /secret .* is empty/],
    ['with an empty key', { ...signed('a', SECONDS), secret: 'whsec_' }, /not base64/],
    ['without a signature', { ...signed('a', SECONDS, ''), scheme: 'standard' }, /malformed/],
    ['with a bare signature', signed('a', SECONDS, sign('a', SECONDS).slice(3)), /not match/],
    ['with an id in two parts', signed('a.1', SECONDS), /webhook-id/],
    ['with an endless id', signed('a'.repeat(201), SECONDS), /webhook-id/],
    ['without an id', signed('', SECONDS), /webhook-id/],
    ['with a broken time', signed('a', '1e9'), /webhook-timestamp/],
    ['with a negative time', signed('a', '-1'), /webhook-timestamp/],
    ['with many signatures', signed('a', SECONDS, 'v1,AAAA '.repeat(11)), /too many/],
  ])('a delivery %s is refused', (_what, delivery, why) => {
    expect(verify({ secret, ...delivery })).toEqual(refused(why));
  });

  test('a repeated header is refused, as a list and as one text', () => {
    const { headers } = signed('a', SECONDS);
    const list = { ...headers, 'webhook-id': ['a', 'b'] };
    expect(verify({ secret, headers: list })).toEqual(refused(/webhook-id .* repeated/));
    const text = { ...headers, 'webhook-timestamp': `${SECONDS}, ${SECONDS}` };
    expect(verify({ secret, headers: text })).toEqual(refused(/webhook-timestamp .* repeated/));
  });
});

describe('GitLab', () => {
  const headers = { 'X-Gitlab-Token': 's3cret', 'Idempotency-Key': 'k-1' };

  test('the token is accepted with the id of the delivery', () => {
    expect(verify({ headers })).toEqual(accepted('k-1'));
    const older = { 'X-Gitlab-Token': 's3cret', 'X-Gitlab-Event-UUID': 'u-1' };
    expect(verify({ headers: older })).toEqual(accepted('u-1'));
    const both = { ...headers, 'X-Gitlab-Event-UUID': 'u-1' };
    expect(verify({ headers: both })).toEqual(accepted('k-1'));
  });

  test.each<[what: string, Delivery['headers'], why: RegExp]>([
    ['another token', { ...headers, 'X-Gitlab-Token': 's3cret2' }, /token does not match/],
    ['a part of the token', { ...headers, 'X-Gitlab-Token': 's3cre' }, /token does not match/],
    ['an empty token', { ...headers, 'X-Gitlab-Token': '' }, /X-Gitlab-Token/],
    ['two tokens', { ...headers, 'X-Gitlab-Token': ['s3cret', 's3cret'] }, /X-Gitlab-Token/],
    ['no id', { 'X-Gitlab-Token': 's3cret' }, /Idempotency-Key/],
    ['a broken id', { ...headers, 'Idempotency-Key': 'a, b' }, /Idempotency-Key/],
  ])('%s is refused', (_what, changed, why) => {
    expect(verify({ headers: changed })).toEqual(refused(why));
  });
});

test('a refusal names neither the secret nor the expected signature', () => {
  const headers = { 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}`, 'X-GitHub-Delivery': 'a' };
  const told = JSON.stringify(verify({ headers }));
  expect(told).not.toContain('s3cret');
  expect(told).not.toMatch(/[0-9a-f]{16}/);
});
