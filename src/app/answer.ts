import { openRun } from '../host/open-run.ts';
import type { OpenItem } from '../host/questions.ts';
import { reply } from '../host/reply.ts';
import type { PermissionDecision } from '../model/permission.ts';
import { readDecision } from '../parse/decision.ts';
import type { RunOwner } from '../ports.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { userName } from '../world/user-name.ts';
import { checkOffered, openItem, type WantedItem } from './open-items.ts';
import { refuseInside } from './refuse-inside.ts';

/** Something that waits for a person. */
export interface AskedItem {
  readonly id: string;
  readonly item: OpenItem;
  /** Whoever works on the run. Otherwise the run uses the answer after a resume. */
  readonly owner: RunOwner | undefined;
}

/** The question or the permission request that is meant. Throws a UserError if it is not clear. */
export async function askedItem(
  around: Surroundings,
  id: string,
  wanted: WantedItem,
): Promise<AskedItem> {
  const found = await openRun(around.store, id);
  await refuseInside(around, id, 'answer its questions');
  return { id, owner: found.owner, item: await openItem(around.store, found, wanted) };
}

/**
 * Answers with a text. The text for a permission request is a decision, such as "deny not on main". Gives the
 * decision. The mailbox keeps the answer until the run uses it.
 */
export async function answer(
  around: Surroundings,
  asked: AskedItem,
  text: string,
): Promise<Decided | undefined> {
  const { id, item } = asked;
  if (item.kind === 'request') return decide(around, asked, readDecision(text, item));
  const { agent, askedAt } = item;
  await reply(around.store, id, { kind: 'answer', agent, askedAt, text });
  return undefined;
}

export interface Decided extends PermissionDecision {
  readonly agent: string;
  readonly request: string;
}

/** Decides about a permission request. Throws a UserError if the request does not offer the decision. */
export async function decide(
  { store }: Surroundings,
  { id, item }: AskedItem,
  decision: PermissionDecision | undefined,
): Promise<Decided> {
  if (item.kind !== 'request') throw new Error('Bug: a question is not a request');
  const { agent, step, request } = item;
  const decided = { ...checkOffered(id, item, decision), agent, request };
  await reply(store, id, { kind: 'permission', ...decided, step, by: userName() });
  return decided;
}
