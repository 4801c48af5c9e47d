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
  const next = nextOf(move);
  const forbidden = tags.find(
    (tag) =>
      (next === undefined || isForkTag(tag)) &&
      !allowed.some((entry) => matches(workflow, entry, withNext(tag, next))),
  );
  return forbidden && `${shown(forbidden)} is not allowed in this state.`;
}

/** The parts of a tag that the policy pins, by the names under which it pins them. */
export function pinnedParts(
  workflow: Workflow,
  allowed: readonly AllowedTransition[],
  tag: Tag,
  move: Move,
): ReadonlySet<string> {
  const judged = withNext(tag, nextOf(move));
  const entries = allowed.filter((entry) => matches(workflow, entry, judged));
  return new Set(
    entries.flatMap(({ body, attributes }) => [
      ...Object.keys(attributes),
      ...(body === undefined ? [] : [TAG_RULES[tag.name].body]),
    ]),
  );
}

/** The message to an agent whose answer could not be followed: the fault and the allowed tags. */
export function reminderText(problem: string, allowed: readonly AllowedTransition[]): string {
  const forks = allowed.filter((entry) => TAG_RULES[entry.tag].variables);
  const mayJoin =
    allowed.some(({ tag }) => tag === 'join') &&
    forks.some(({ attributes }) => attributes.next === undefined);
  const templates = allowed.map((entry) => asTemplate(entry, mayJoin));
  const lines = templates.map(({ tag }) => `    ${writeTag(tag)}`);
  return [
    `Your last message did not end this step: ${problem}`,
    '',
    lines.length === 1
      ? 'End your next message with this tag, outside any code block:'
      : `End your next message with exactly one of these tags${mayJoin ? ', or with forks and one join' : ''}, outside any code block:`,
    '',
    ...lines,
    '',
    ...(templates.some(({ isOpen }) => isOpen) ? ['Replace the parts in [brackets].'] : []),
    ...(forks.length > 0 ? [mayJoin ? FORKS_AND_JOIN : FORKS] : []),
    'Do not repeat work that is done.',
  ].join('\n');
}

/**
 * The parts of a tag, or the pinned parts of an entry, in one spelling: names of states are
 * resolved. A tag matches an entry if it has all parts of the entry. The name of the body is ''.
 */
export function policyParts(
  workflow: Workflow,
  { name, body, attributes }: Pick<Tag, 'name' | 'attributes'> & { readonly body?: string },
): ReadonlyMap<string, string> {
  const parts = new Map<string, string>();
  if (body !== undefined) {
    const isState = TAG_RULES[name].body === 'target';
    parts.set('', isState ? resolved(workflow, body.trim()) : body.trim());
  }
  for (const [attribute, value] of Object.entries(attributes)) {
    const isState = STATE_ATTRIBUTES.includes(attribute);
    parts.set(attribute, isState ? resolved(workflow, value.trim()) : value);
  }
  return parts;
}

/** Whether a tag has all parts that an entry pins. */
export function matches(workflow: Workflow, entry: AllowedTransition, tag: Tag): boolean {
  if (entry.tag !== tag.name) return false;
  const parts = policyParts(workflow, tag);
  const pinned = policyParts(workflow, { ...entry, name: entry.tag });
  return [...pinned].every(([name, value]) => parts.get(name) === value);
}

function resolved(workflow: Workflow, name: string): string {
  const resolution = resolveState(workflow, name);
  return 'found' in resolution ? resolution.found : name;
}

const isForkTag = (tag: Tag) => TAG_RULES[tag.name].variables;

/** A goto beside forks is their next, so it is checked with them. */
function nextOf(move: Move): string | undefined {
  return move.forks.length > 0 && move.own.tag === 'goto' ? move.own.target : undefined;
}

/** Several forks share one next. It is on one of them, or it is the goto of the parent. */
function withNext(tag: Tag, next: string | undefined): Tag {
  if (next === undefined || !isForkTag(tag)) return tag;
  return { ...tag, attributes: { ...tag.attributes, next } };
}

const FORKS = 'You may write several forks if they have the same next.';
const FORKS_AND_JOIN =
  'A fork without next needs a join beside it. The join then waits for all forks of the message.';

/** An entry as a tag, with a placeholder for each required part that it leaves open. */
function asTemplate(
  entry: AllowedTransition,
  mayJoin: boolean,
): { readonly tag: Tag; readonly isOpen: boolean } {
  const { body } = TAG_RULES[entry.tag];
  const open = neededBy(entry, mayJoin).filter((name) => entry.attributes[name] === undefined);
  const placeholders = open.map((name) => [
    name,
    name === 'timeout' ? PLACEHOLDERS.timeout : PLACEHOLDERS.target,
  ]);
  return {
    tag: {
      name: entry.tag,
      attributes: { ...entry.attributes, ...Object.fromEntries(placeholders) },
      body: entry.body ?? PLACEHOLDERS[body],
    },
    isOpen: open.length > 0 || entry.body === undefined,
  };
}

function neededBy({ tag, attributes }: AllowedTransition, mayJoin: boolean): readonly string[] {
  const { required, variables } = TAG_RULES[tag];
  if (variables) return mayJoin ? required : ['next', ...required];
  const hasTimeout = ['timeout', 'timeout_next'].some((name) => attributes[name] !== undefined);
  return hasTimeout ? [...required, 'timeout', 'timeout_next'] : required;
}

const PLACEHOLDERS = {
  target: '[a state]',
  path: '[a workflow]',
  question: '[your question]',
  payload: '[your result]',
  timeout: '[a time like 24h]',
};

const LONGEST_SHOWN = 200;

function shown(tag: Tag): string {
  const text = writeTag(tag).replace(/\s+/g, ' ');
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}
