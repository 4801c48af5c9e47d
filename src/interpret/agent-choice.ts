/**
 * What an agent may choose itself. Its answer is not the author's word: a part that the policy does not
 * pin must not be a way to more power than the agent has.
 */
import type { Failure } from '../model/failure.ts';
import type { Facts } from '../model/input.ts';
import type { Tag } from '../model/tag.ts';
import type { Move } from '../model/transition.ts';
import type { AllowedTransition, Workflow } from '../model/workflow.ts';
import { TAG_RULES } from '../parse/transition.ts';
import { agentVariableProblem } from '../parse/variables.ts';
import { pinnedParts } from './policy.ts';

/** Why an agent may not choose what it wrote; undefined when it may. */
export function choiceProblem(
  workflow: Workflow,
  allowed: readonly AllowedTransition[] | undefined,
  { tags, move, facts }: { tags: readonly Tag[]; move: Move; facts: Facts },
): Failure | undefined {
  for (const tag of tags) {
    const pinned = pinnedParts(workflow, allowed ?? [], tag, move);
    const problem = variableChoiceProblem(tag, pinned, facts.environment);
    if (problem) return { kind: 'bad-transition', message: problem };
  }
  return undefined;
}

/** Why the variables of a tag are not for an agent to choose. */
export function variableChoiceProblem(
  { name, attributes }: Tag,
  pinned: ReadonlySet<string>,
  environment: ReadonlySet<string>,
): string | undefined {
  const { required, optional, variables } = TAG_RULES[name];
  if (!variables) return undefined;
  for (const attribute of Object.keys(attributes)) {
    if (pinned.has(attribute) || required.includes(attribute) || optional.includes(attribute))
      continue;
    const problem = agentVariableProblem(attribute, environment);
    if (problem) return `<${name}>: ${problem}`;
  }
  return undefined;
}
