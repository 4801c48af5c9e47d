import { randomBytes } from 'node:crypto';
import type { Occasion } from '../model/trigger.ts';
import { UserError } from '../model/user-error.ts';
import { occasionOf } from '../triggers/occasion.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { refuseInsideAny } from './refuse-inside.ts';
import { findTriggers, inProjectRoot } from './triggers.ts';

/**
 * Lets a delivery of a webhook happen again: a new occasion with the same payload, which names the old one. Its run
 * starts as soon as `raymond up` keeps the project.
 */
export async function replay(given: Surroundings, id: string): Promise<Occasion> {
  await refuseInsideAny(given, 'repeat a delivery');
  const around = await inProjectRoot(given);
  try {
    const ledger = await around.world.occasions();
    const { triggers } = await findTriggers(around);
    for (const { key, trigger, isApproved, workflowName, path } of triggers) {
      const record = await ledger.find(key, id);
      if (!record) continue;
      const { occasion: old } = record;
      if (old.cause.kind !== 'webhook' || trigger.kind !== 'webhook')
        throw new UserError(
          'not-a-delivery',
          `The occasion ${id} is not a delivery of a webhook.`,
          `To run its workflow once more: raymond ${path}`,
        );
      if (!isApproved)
        throw new UserError(
          'not-approved',
          `You have not approved the triggers of ${path} as they are now.`,
          `To approve them: raymond trust ${path}`,
        );
      const payload = await ledger.payload(old);
      if (payload === undefined)
        throw new UserError(
          'no-payload',
          `The payload of ${id} is no longer stored.`,
          'Let the sender repeat the delivery.',
        );
      const { delivery } = old.cause;
      const again = `${delivery.slice(0, 200)}+${randomBytes(4).toString('hex')}`;
      const cause = { kind: 'webhook', delivery: again, replays: id } as const;
      const occasion = occasionOf(key, workflowName, cause, around.clock.now());
      await ledger.record(occasion, payload);
      return occasion;
    }
    throw new UserError(
      'no-occasion',
      `The triggers of this project have no occasion ${id.slice(0, 100)}.`,
      'To list the occasions: raymond triggers --occasions',
    );
  } finally {
    await around.world.close();
  }
}
