/**
 * INV-8: An agent's answer never gives the agent more rights than its author and its user gave it.
 *
 * Checks the parts of a transition that the policy leaves to the agent.
 */
import type { Failure } from '../model/failure.ts';
import type { Facts } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import type { Tag } from '../model/tag.ts';
import type { Move } from '../model/transition.ts';
import type { AllowedTransition, Workflow } from '../model/workflow.ts';
import { TAG_RULES } from '../parse/transition.ts';
import { agentVariableProblem } from '../parse/variables.ts';
import { pinnedParts } from './policy.ts';

/** Why an agent must not choose what it wrote; undefined when it may. */
export function choiceProblem(
  { run, workflow, facts }: { run: Run; workflow: Workflow; facts: Facts },
  allowed: readonly AllowedTransition[] | undefined,
  tags: readonly Tag[],
  move: Move,
): Failure | undefined {
  for (const tag of tags) {
    const pinned = pinnedParts(workflow, allowed ?? [], tag, move);
    const variable = variableChoiceProblem(tag, pinned, facts.environment);
    if (variable) return { kind: 'bad-transition', message: variable };
    const directory = pinned.has('cd') ? undefined : directoryProblem(tag, facts);
    if (directory) return { kind: 'bad-directory', message: directory };
    const entered = pinned.has('path') ? undefined : workflowProblem(run, tag, facts);
    if (entered) return { kind: 'bad-workflow', message: entered };
  }
  return undefined;
}

/** Why an agent must not choose the variables of a tag; undefined when it may. */
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

/** Raymond may accept the edits of an agent in its directory without asking. */
function directoryProblem({ attributes: { cd } }: Tag, { directories }: Facts): string | undefined {
  const fact = cd === undefined ? undefined : directories.get(cd);
  if (!fact?.found || fact.inProject) return undefined;
  return `The directory ${fact.path} is outside the project. An agent may choose only directories of the project, unless allowed_transitions names another one.`;
}

/**
 * Scripts of a workflow run without asking. So an agent must not enter a workflow that an agent may
 * have written.
 */
function workflowProblem(run: Run, tag: Tag, { workflows }: Facts): string | undefined {
  if (TAG_RULES[tag.name].body !== 'path') return undefined;
  const fact = workflows.get(tag.body.trim());
  if (!fact?.found) return undefined;
  if (!fact.inProject) {
    return `The workflow ${fact.ref} is outside the project. An agent may choose only workflows of the project, unless allowed_transitions names another one.`;
  }
  if (fact.unchanged || isKnown(run, fact.ref)) return undefined;
  return `The workflow ${fact.ref} was made or changed after the run began. An agent may choose it only if allowed_transitions names it.`;
}

/** A workflow that the run has read is compared with its recorded files before it is used. */
function isKnown({ workflow, workflowFiles }: Run, ref: string): boolean {
  return workflow === ref || workflowFiles.has(ref);
}
