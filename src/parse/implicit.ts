import type { Tag } from '../model/tag.ts';
import type { AllowedTransition, Policy } from '../model/workflow.ts';
import { readMove } from './transition.ts';

/**
 * The tag that applies even if the agent writes none: the only entry of the policy, if it leaves
 * nothing open.
 */
export function implicitTag(
  policy: Pick<Policy, 'allowed'>,
  choices: readonly string[],
): Tag | undefined {
  const entry = policy.allowed?.length === 1 ? policy.allowed[0] : undefined;
  const tag = entry && tagOf(entry);
  return tag && incompleteBecause(tag, choices) === undefined ? tag : undefined;
}

/** The tag that an entry pins, if it pins the body. */
export function tagOf(
  entry: Pick<AllowedTransition, 'tag' | 'body' | 'attributes'>,
): Tag | undefined {
  if (entry.body === undefined) return undefined;
  return { name: entry.tag, attributes: entry.attributes, body: entry.body };
}

/** Why a tag cannot be used as it is. */
export function incompleteBecause(tag: Tag, choices: readonly string[]): string | undefined {
  const read = readMove({ tags: [tag], bad: [] }, choices);
  return read.ok ? undefined : read.message;
}
