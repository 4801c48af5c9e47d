/**
 * Checks who sent a delivery of a webhook: Standard Webhooks, GitHub or GitLab.
 *
 * Every comparison with a secret takes the same time, whatever was sent. The reason of a refusal names the rule,
 * and never a part of the secret or of the expected signature.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Signature } from '../model/trigger.ts';

/** As Node gives them: a header that came several times is a list, or one text with commas. */
export type DeliveryHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface Delivery {
  readonly headers: DeliveryHeaders;
  /** The bytes as they came: a signature covers them, not what they mean. */
  readonly body: Uint8Array | string;
  readonly secret: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Without it, the headers decide. */
  readonly scheme?: Signature | undefined;
}

/** The id is the sender's: a repeated delivery has the same one. */
export type Verified =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly why: string };

export function verifyDelivery(delivery: Delivery): Verified {
  const { headers, secret, scheme = schemeOf(headers) } = delivery;
  if (secret.trim() === '') return refused('the secret of this webhook is empty');
  switch (scheme) {
    case 'standard':
      return verifyStandard(delivery);
    case 'github':
      return verifyGithub(delivery);
    case 'gitlab':
      return verifyGitlab(delivery);
    default:
      return refused('the delivery is not signed');
  }
}

/** Newer versions of GitLab sign as Standard Webhooks do and may send their token as well: the signature counts. */
function schemeOf(headers: DeliveryHeaders): Signature | undefined {
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  if (names.has('webhook-signature')) return 'standard';
  if (names.has('x-hub-signature-256')) return 'github';
  return names.has('x-gitlab-token') ? 'gitlab' : undefined;
}

/** A delivery whose time differs more than this from ours is refused: it may be an old one, sent again. */
const WINDOW_SECONDS = 300;
/** A sender that changes its secret signs with both for a while. */
const MOST_SIGNATURES = 10;

function verifyStandard({ headers, body, secret, now }: Delivery): Verified {
  // The signed text joins id, time and body with dots, so that an id with a dot could be read in two ways.
  const id = onlyHeader(headers, 'webhook-id', /^[\w:/+=@-]{1,200}$/);
  const time = onlyHeader(headers, 'webhook-timestamp', /^\d{1,12}$/);
  const signatures = onlyHeader(headers, 'webhook-signature', /^[\w+/=, -]{1,4096}$/);
  if (id === undefined) return badHeader('webhook-id');
  if (time === undefined) return badHeader('webhook-timestamp');
  if (signatures === undefined) return badHeader('webhook-signature');
  const key = standardKey(secret);
  if (!key) return refused('the secret of this webhook begins with whsec_ but is not base64');
  const expected = `v1,${hmac(key, `${id}.${time}.`, body).toString('base64')}`;
  const given = signatures.split(' ').filter((signature) => signature !== '');
  if (given.length > MOST_SIGNATURES) return refused('the delivery has too many signatures');
  if (given.filter((signature) => isSame(signature, expected)).length === 0)
    return refused(MISMATCH);
  const age = now / 1000 - Number(time);
  if (age > WINDOW_SECONDS) return refused('the delivery was signed more than 5 minutes ago');
  if (age < -WINDOW_SECONDS)
    return refused('the delivery was signed more than 5 minutes in the future');
  return { ok: true, id };
}

const MISMATCH = 'the signature does not match';
const PREFIX = 'whsec_';

/** A secret with the prefix is base64. Any other is taken as it is. */
function standardKey(secret: string): Buffer | undefined {
  if (!secret.startsWith(PREFIX)) return Buffer.from(secret);
  const text = secret.slice(PREFIX.length);
  const key = Buffer.from(text, 'base64');
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(text);
  return isBase64 && key.length > 0 ? key : undefined;
}

/** GitHub signs the body only, and no time. */
function verifyGithub({ headers, body, secret }: Delivery): Verified {
  const id = onlyHeader(headers, 'x-github-delivery', SENDERS_ID);
  const signature = onlyHeader(headers, 'x-hub-signature-256', /^sha256=[0-9a-f]{64}$/);
  if (id === undefined) return badHeader('X-GitHub-Delivery');
  if (signature === undefined) return badHeader('X-Hub-Signature-256');
  const expected = `sha256=${hmac(Buffer.from(secret), body).toString('hex')}`;
  return isSame(signature, expected) ? { ok: true, id } : refused(MISMATCH);
}

const SENDERS_ID = /^[\w.:-]{1,200}$/;

/** GitLab's token is the secret itself: it proves who sent the delivery, not what the body was. */
function verifyGitlab({ headers, secret }: Delivery): Verified {
  const token = onlyHeader(headers, 'x-gitlab-token', /^.+$/s);
  if (token === undefined) return badHeader('X-Gitlab-Token');
  const name = ['idempotency-key', 'x-gitlab-event-uuid'].find(
    (header) => valuesOf(headers, header).length > 0,
  );
  const id = name && onlyHeader(headers, name, SENDERS_ID);
  if (!id) return badHeader('Idempotency-Key');
  return isSame(token, secret) ? { ok: true, id } : refused('the token does not match');
}

/** The value of a header that came exactly once and has this form. */
function onlyHeader(headers: DeliveryHeaders, name: string, form: RegExp): string | undefined {
  const [value, ...others] = valuesOf(headers, name);
  if (value === undefined || others.length > 0 || !form.test(value)) return undefined;
  return value;
}

function valuesOf(headers: DeliveryHeaders, name: string): readonly string[] {
  return Object.entries(headers).flatMap(([key, value]) =>
    key.toLowerCase() === name ? (value ?? []) : [],
  );
}

function badHeader(name: string): Verified {
  return refused(`the header ${name} is missing, repeated or malformed`);
}

function refused(why: string): Verified {
  return { ok: false, why };
}

function hmac(key: Buffer, ...parts: readonly (Uint8Array | string)[]): Buffer {
  const sum = createHmac('sha256', key);
  for (const part of parts) sum.update(part);
  return sum.digest();
}

/** Compares digests, which have the same length, so that the time does not tell the length either. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
