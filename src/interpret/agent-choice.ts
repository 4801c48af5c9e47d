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
import { agentNameProblem, agentVariableProblem } from '../parse/variables.ts';
import { isChecked, pinnedParts } from './policy.ts';

export type Chosen =
  | { readonly ok: true; readonly move: Move }
  | { readonly ok: false; readonly failure: Failure };

/**
 * The move of an agent, or why the agent must not choose what it wrote. Variables whose names could
 * steer programs are left out of the environment.
 */
export function agentMove(
  { run, workflow, facts }: { run: Run; workflow: Workflow; facts: Facts },
  allowed: readonly AllowedTransition[] | undefined,
  tags: readonly Tag[],
  move: Move,
): Chosen {
  const refuse = (kind: Failure['kind'], message: string): Chosen => ({
    ok: false,
    failure: { kind, message },
  });
  const pinnedIn = pinnedParts(workflow, allowed ?? [], tags);
  const withheld: (readonly string[])[] = [];
  for (const [index, tag] of tags.entries()) {
    const pinned = pinnedIn[index] ?? NONE;
    const variable = variableChoiceProblem(tag, pinned);
    if (variable) return refuse('bad-transition', variable);
    const directory = pinned.has('cd') ? undefined : directoryProblem(tag, facts);
    if (directory) return refuse('bad-directory', directory);
    const entered = pinned.has('path') ? undefined : workflowProblem(run, tag, facts);
    if (entered) return refuse('bad-workflow', entered);
    if (!TAG_RULES[tag.name].variables) continue;
    withheld.push(
      chosenVariables(tag, pinned).filter(
        (name) => agentVariableProblem(name, facts.environment) !== undefined,
      ),
    );
  }
  const forks = move.forks.map((fork, index) => {
    const names = withheld[index] ?? [];
    return names.length > 0 ? { ...fork, withheld: names } : fork;
  });
  const { own } = move;
  if (own.tag === 'result' && isChecked(allowed ?? [], own.payload)) {
    return { ok: true, move: { ...move, forks, own: { ...own, checked: true } } };
  }
  return { ok: true, move: { ...move, forks } };
}

const NONE: ReadonlySet<string> = new Set();

/** Why an agent must not choose the names of a tag's variables; undefined when it may. */
export function variableChoiceProblem(tag: Tag, pinned: ReadonlySet<string>): string | undefined {
  for (const name of chosenVariables(tag, pinned)) {
    const problem = agentNameProblem(name);
    if (problem) return `<${tag.name}>: ${problem}`;
  }
  return undefined;
}

/** The variables of a child that the policy does not name. */
function chosenVariables(
  { name, attributes }: Tag,
  pinned: ReadonlySet<string>,
): readonly string[] {
  const { required, optional, variables } = TAG_RULES[name];
  const isOwn = (attribute: string) => required.includes(attribute) || optional.includes(attribute);
  if (!variables) return [];
  return Object.keys(attributes).filter((attribute) => !pinned.has(attribute) && !isOwn(attribute));
}

/**
 * Raymond may accept the edits of an agent in its directory without asking. And agents run git there, which
 * executes what the configuration of the repository says.
 */
function directoryProblem({ attributes: { cd } }: Tag, { directories }: Facts): string | undefined {
  const fact = cd === undefined ? undefined : directories.get(cd);
  if (!fact?.found) return undefined;
  if (fact.inProject && fact.newRepository === undefined) return undefined;
  if (fact.inProject)
    return `The directory ${fact.path} belongs to a git repository that was created or configured after the run began (${fact.newRepository}). An agent may choose it only if allowed_transitions names it.`;
  return `The directory ${fact.path} is outside the project. An agent may choose only directories of the project, unless allowed_transitions names another one.`;
}

/**
 * Scripts of a workflow run without asking, so an agent must not enter a workflow that an agent may
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
  return `The workflow ${fact.ref} was created or changed after the run began. An agent may choose it only if allowed_transitions names it.`;
}

/** A workflow that the run has read is compared with its recorded files before it is used. */
function isKnown({ workflow, workflowFiles }: Run, ref: string): boolean {
  return workflow === ref || workflowFiles.has(ref);
}
