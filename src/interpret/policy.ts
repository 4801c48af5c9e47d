import type { Tag } from '../model/tag.ts';
import type { Move } from '../model/transition.ts';
import type { AllowedTransition, Workflow } from '../model/workflow.ts';
import { resolveState } from '../parse/resolve.ts';
import { STATE_ATTRIBUTES, TAG_RULES, writeTag } from '../parse/transition.ts';

/** Why a policy forbids what was written; undefined when it allows all of it. */
export function policyProblem(
  workflow: Workflow,
  allowed: readonly AllowedTransition[],
  tags: readonly Tag[],
  move: Move,
): string | undefined {
  const next = move.forks.length > 0 && move.own.tag === 'goto' ? move.own.target : undefined;
  const entryFor = (tag: Tag) => allowed.find((entry) => matches(workflow, entry, tag));
  const forks = tags.filter(isForkTag).map((tag) => entryFor(withNext(tag, next)));
  const forksSayNext =
    forks.length > 0 && forks.every((entry) => entry?.attributes.next !== undefined);

  for (const tag of tags) {
    const entry = isForkTag(tag) ? entryFor(withNext(tag, next)) : entryFor(tag);
    if (!entry && !(tag.name === 'goto' && forksSayNext)) {
      return `${shown(tag)} is not allowed in this state.`;
    }
  }
  return undefined;
}

/** What is said to an agent whose answer could not be followed: the fault, and all that may be written. */
export function reminderText(problem: string, allowed: readonly AllowedTransition[]): string {
  const lines = allowed.map((entry) => `    ${writeTag(asTemplate(entry))}`);
  const hasFork = allowed.some((entry) => TAG_RULES[entry.tag].variables);
  return [
    `Your last message did not end this step: ${problem}`,
    '',
    lines.length === 1
      ? 'End your next message with this tag, outside any code block:'
      : 'End your next message with exactly one of these tags, outside any code block:',
    '',
    ...lines,
    '',
    ...(hasPlaceholder(allowed) ? ['Replace what stands in [brackets].'] : []),
    ...(hasFork ? ['Several forks may stand together when they have the same next.'] : []),
    'Do not repeat work that is done.',
  ].join('\n');
}

function matches(workflow: Workflow, entry: AllowedTransition, tag: Tag): boolean {
  if (entry.tag !== tag.name) return false;
  const sameState = (a: string, b: string) => resolved(workflow, a) === resolved(workflow, b);
  if (entry.body !== undefined) {
    const body = tag.body.trim();
    const isState = TAG_RULES[tag.name].body === 'target';
    if (isState ? !sameState(entry.body, body) : entry.body.trim() !== body) return false;
  }
  return Object.entries(entry.attributes).every(([name, pinned]) => {
    const given = tag.attributes[name];
    if (given === undefined) return false;
    return STATE_ATTRIBUTES.includes(name) ? sameState(pinned, given.trim()) : pinned === given;
  });
}

function resolved(workflow: Workflow, name: string): string {
  const resolution = resolveState(workflow, name);
  return 'found' in resolution ? resolution.found : name;
}

const isForkTag = (tag: Tag) => TAG_RULES[tag.name].variables;

/** Forks that stand together share one next, written on one of them or as the parent's goto. */
function withNext(tag: Tag, next: string | undefined): Tag {
  return next === undefined ? tag : { ...tag, attributes: { ...tag.attributes, next } };
}

function asTemplate(entry: AllowedTransition): Tag {
  const { body, required, variables } = TAG_RULES[entry.tag];
  const needed = variables ? ['next', ...required] : required;
  const unpinned = needed.filter((name) => entry.attributes[name] === undefined);
  return {
    name: entry.tag,
    attributes: {
      ...entry.attributes,
      ...Object.fromEntries(unpinned.map((name) => [name, PLACEHOLDERS.target])),
    },
    body: entry.body ?? PLACEHOLDERS[body],
  };
}

const PLACEHOLDERS = {
  target: '[a state]',
  path: '[a workflow]',
  question: '[your question]',
  payload: '[your result]',
};

function hasPlaceholder(allowed: readonly AllowedTransition[]): boolean {
  return allowed.some((entry) => writeTag(asTemplate(entry)).includes('['));
}

const LONGEST_SHOWN = 200;

function shown(tag: Tag): string {
  const text = writeTag(tag).replace(/\s+/g, ' ');
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}
