/**
 * INV-46: Nothing of a delivery counts before its signature is checked. A sender who cannot sign learns nothing:
 * a wrong signature, an old delivery and a webhook that does not exist get the same reply.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { type ReceivedRequest, type Reply, refusal } from './listener.ts';
import { type Delivery, type Verified, verifyDelivery } from './verify-delivery.ts';

/** Something that takes deliveries. */
export interface Door {
  readonly who:
    | { readonly kind: 'anyone' }
    /** Undefined if the secret has no value now; the reason is reported elsewhere. */
    | {
        readonly kind: 'signed';
        readonly secret: () => Promise<string | undefined>;
        readonly scheme?: Delivery['scheme'];
      };
  readonly take: (delivery: CheckedDelivery) => Promise<Reply>;
}

export interface CheckedDelivery {
  /** The sender's. A repeated delivery has the same one. */
  readonly id: string;
  /** JSON, as it was sent. */
  readonly text: string;
  readonly payload: unknown;
}

/** `refused` gets the reason, which the sender does not get. */
export async function receive(
  door: Door | undefined,
  { headers, body }: Pick<ReceivedRequest, 'headers' | 'body'>,
  now: number,
  refused: (why: string) => void,
): Promise<Reply> {
  const verified = await verify(door, headers, body, now);
  if (!door || !verified.ok) {
    if (!verified.ok) refused(verified.why);
    return REFUSED;
  }
  const read = jsonOf(body);
  if (!read) {
    refused('the body is not JSON in UTF-8');
    return NOT_JSON;
  }
  return door.take({ id: verified.id, ...read });
}

async function verify(
  door: Door | undefined,
  headers: ReceivedRequest['headers'],
  body: Buffer,
  now: number,
): Promise<Verified> {
  if (door?.who.kind === 'anyone') return { ok: true, id: unsignedId(headers) };
  // A webhook that does not exist takes as long as one that does.
  const secret = door ? await door.who.secret() : NO_SECRET;
  const scheme = door?.who.scheme;
  const verified = verifyDelivery({ headers, body, secret: secret ?? NO_SECRET, now, scheme });
  if (!door) return { ok: false, why: 'there is no such webhook' };
  return secret === undefined ? { ok: false, why: 'its secret has no value' } : verified;
}

/** Nobody knows it. */
const NO_SECRET = randomBytes(32).toString('hex');

/** A sender that repeats itself may say so. */
function unsignedId(headers: ReceivedRequest['headers']): string {
  const given = ['webhook-id', 'x-github-delivery', 'idempotency-key'].flatMap(
    (name) => headers[name] ?? [],
  );
  return given.find((id) => /^[\w.:-]{1,200}$/.test(id)) ?? randomUUID();
}

function jsonOf(body: Buffer): Pick<CheckedDelivery, 'text' | 'payload'> | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    return { text, payload: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

const REFUSED = refusal(
  401,
  'refused',
  'Raymond refuses this delivery.',
  'Check its address, its secret and its signature. The log of raymond up has the reason.',
);

const NOT_JSON = refusal(
  400,
  'bad-payload',
  'The body is not JSON in UTF-8.',
  'Let the sender use the content type application/json.',
);
