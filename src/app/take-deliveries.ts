/** What deliveries do: those of webhooks become occasions, and those to `/answers` answer questions. */
import type { Receive, Reply } from '../hooks/listener.ts';
import { refusal } from '../hooks/listener.ts';
import { matchesPayload } from '../hooks/match-payload.ts';
import { type CheckedDelivery, type Door, receive } from '../hooks/receive.ts';
import type { WebhookTrigger } from '../model/trigger.ts';
import { UserError } from '../model/user-error.ts';
import { visible } from '../model/visible.ts';
import type { CodeUsed } from './answer-by-code.ts';
import type { FoundTrigger } from './triggers.ts';

/** A webhook that the user has approved. */
export interface KeptWebhook extends FoundTrigger {
  readonly trigger: WebhookTrigger;
}

export interface Deliveries {
  /** The present ones, by name. */
  readonly webhooks: () => ReadonlyMap<string, KeptWebhook>;
  /** Resolves when the occasion is on disk. */
  readonly record: (
    webhook: KeptWebhook,
    delivery: CheckedDelivery,
  ) => Promise<'recorded' | 'known'>;
  /** The value of a secret; undefined if it has none, which is reported elsewhere. */
  readonly secret: (name: string) => Promise<string | undefined>;
  /** Without it, nobody can send answers. */
  readonly answers?:
    | { readonly secret: string; readonly take: (payload: unknown) => Promise<CodeUsed> }
    | undefined;
  readonly now: () => number;
  /** For the log. The text may have parts of a stranger's. */
  readonly report: (text: string) => void;
}

export function takeDeliveries(deliveries: Deliveries): Receive {
  const report = sparingly(deliveries);
  return async ({ path, headers, body }) => {
    const say = (how: string, why: string) =>
      report(`A delivery to ${visible(path.slice(0, 100))} ${how}: ${why}`);
    const door = doorAt(deliveries, path, (why) => say('was ignored', why));
    try {
      return await receive(door, { headers, body }, deliveries.now(), (why) =>
        say('was refused', `${why}.`),
      );
    } catch (error) {
      // The sender gets no reason, so the log is the only place for it.
      say('failed', messageOf(error));
      throw error;
    }
  };
}

const messageOf = (error: unknown) => visible(error instanceof Error ? error.message : `${error}`);

function doorAt(
  deliveries: Deliveries,
  path: string,
  ignored: (why: string) => void,
): Door | undefined {
  const { answers, secret } = deliveries;
  if (path === '/answers')
    return (
      answers && {
        who: { kind: 'signed', secret: () => secret(answers.secret) },
        take: ({ payload }) => answered(answers.take(payload)),
      }
    );
  const [, name = ''] = /^\/hooks\/([\w-]{1,64})$/.exec(path) ?? [];
  const webhook = deliveries.webhooks().get(name);
  if (!webhook) return undefined;
  const { secret: named, signature: scheme } = webhook.trigger;
  return {
    who:
      named === undefined
        ? { kind: 'anyone' }
        : { kind: 'signed', secret: () => secret(named), scheme },
    take: (delivery) => delivered(deliveries, webhook, delivery, ignored),
  };
}

async function delivered(
  { record }: Deliveries,
  webhook: KeptWebhook,
  delivery: CheckedDelivery,
  ignored: (why: string) => void,
): Promise<Reply> {
  // Not an occasion: a busy sender would push the occasions out of the ledger.
  if (!matchesPayload(webhook.trigger.match, delivery.payload)) {
    ignored('its payload does not match.');
    return { status: 202, body: { status: 'ignored' } };
  }
  const how = await record(webhook, delivery);
  return how === 'recorded'
    ? { status: 202, body: { status: 'accepted' } }
    : { status: 200, body: { status: 'duplicate' } };
}

async function answered(taking: Promise<CodeUsed>): Promise<Reply> {
  try {
    const { answer } = await taking;
    return { status: 200, body: { status: 'answered', answer } };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { code, message, remedy } = error;
    return refusal(STATUSES[code] ?? 409, code, message, remedy);
  }
}

const STATUSES: Readonly<Record<string, number>> = {
  usage: 400,
  'wrong-code': 404,
  'expired-code': 410,
  'too-many-codes': 429,
};

/** Strangers cannot fill the log: after a few lines in a minute, they are only counted. */
function sparingly({ now, report }: Deliveries): (text: string) => void {
  let minute = 0;
  let count = 0;
  return (text) => {
    const present = Math.floor(now() / 60_000);
    if (present !== minute) {
      if (count > MOST_LINES)
        report(`${count - MOST_LINES} more deliveries were refused or ignored in that minute.`);
      minute = present;
      count = 0;
    }
    count += 1;
    if (count <= MOST_LINES) report(text);
  };
}

const MOST_LINES = 20;
