import type { Tag } from '../model/tag.ts';
import type { AllowedTransition, PayloadSchema, Workflow } from '../model/workflow.ts';
import { clip } from '../parse/clip.ts';
import { payloadMisfits } from '../parse/json-misfits.ts';
import { resolveState } from '../parse/resolve.ts';
import {
  DECIDING_ATTRIBUTES,
  readDuration,
  STATE_ATTRIBUTES,
  TAG_RULES,
  writeTag,
} from '../parse/transition.ts';

/** Why a policy forbids the tags of an answer; undefined when it allows all of them. */
export function policyProblem(
  workflow: Workflow,
  allowed: readonly AllowedTransition[],
  tags: readonly Tag[],
): string | undefined {
  const forbidden = withSharedNext(tags).find(
    (tag) => !allowed.some((entry) => allows(workflow, entry, tag) && fits(entry, tag.body)),
  );
  if (!forbidden) return undefined;
  const meant = allowed.find((entry) => entry.schema && allows(workflow, entry, forbidden));
  return meant?.schema
    ? misfitText(meant.schema, forbidden)
    : `${shown(forbidden)} is not allowed in this state.`;
}

/** Whether a payload has been checked with a schema of its policy, and fits it. */
export function isChecked(allowed: readonly AllowedTransition[], payload: string): boolean {
  return allowed.some((entry) => entry.schema !== undefined && fits(entry, payload));
}

function fits({ schema }: AllowedTransition, payload: string): boolean {
  return schema === undefined || payloadMisfits(schema, payload).length === 0;
}

/** Names each place of a payload that does not fit. */
function misfitText(schema: PayloadSchema, { name, body }: Tag): string {
  const places = payloadMisfits(schema, body).map(
    ({ pointer, problem }) => `At ${pointer === '' ? 'the top' : clip(pointer)}: ${problem}.`,
  );
  return `The payload of <${name}> does not fit ${schema.file || 'its schema'}. ${places.join(' ')}`;
}

/** For each tag of an answer, the parts that the policy pins, by the names under which it pins them. */
export function pinnedParts(
  workflow: Workflow,
  allowed: readonly AllowedTransition[],
  tags: readonly Tag[],
): readonly ReadonlySet<string>[] {
  return withSharedNext(tags).map((tag) => {
    const entries = allowed.filter((entry) => allows(workflow, entry, tag));
    return new Set(
      entries.flatMap(({ body, attributes }) => [
        ...Object.keys(attributes),
        ...(body === undefined ? [] : [TAG_RULES[tag.name].body]),
      ]),
    );
  });
}

/** Forks in one answer share one next, and only one of them must have it. */
export function withSharedNext(tags: readonly Tag[]): readonly Tag[] {
  const next = tags.find((tag) => isForkTag(tag) && tag.attributes.next !== undefined)?.attributes
    .next;
  if (next === undefined) return tags;
  return tags.map((tag) =>
    isForkTag(tag) ? { ...tag, attributes: { ...tag.attributes, next } } : tag,
  );
}

/** The message to an agent whose answer could not be followed: the fault and the allowed tags. */
export function reminderText(problem: string, allowed: readonly AllowedTransition[]): string {
  const forks = allowed.filter(({ tag }) => TAG_RULES[tag].variables);
  const nexts = forks.map(({ attributes }) => attributes.next);
  const beside = nexts.includes(undefined)
    ? BESIDE_FORKS.filter((name) => allowed.some(({ tag }) => tag === name)).join(' or ')
    : '';
  const templates = allowed.map(asTemplate);
  const lines = templates.map((tag) => `    ${writeTag(tag)}`);
  return [
    `Your last message did not end this step: ${problem}`,
    '',
    lines.length === 1
      ? 'End your next message with this tag, outside any code block:'
      : `End your next message with exactly one of these tags${beside && `, or with forks and one ${beside}`}, outside any code block:`,
    '',
    ...lines,
    '',
    ...schemaLines(allowed),
    ...(allowed.some(({ body }) => body === undefined) ? ['Replace the parts in [brackets].'] : []),
    ...(nexts.some((next) => next !== undefined) ? [FORKS] : []),
    ...(beside ? [`A fork without next needs one ${beside} beside it.`] : []),
    ...(beside.includes('join') ? [JOIN] : []),
    ...(forks.length > 0 ? [VARIABLES] : []),
    'Do not repeat work that is done.',
  ].join('\n');
}

const FORKS = 'You may write several forks if they have the same next.';
const BESIDE_FORKS = ['goto', 'join'] as const;
const JOIN = 'A join beside forks waits for all forks of the message.';
const VARIABLES = 'Further attributes of a fork are variables of its child agent.';

/** The agent may never have seen a schema, and a reminder without it would be a riddle. */
function schemaLines(allowed: readonly AllowedTransition[]): readonly string[] {
  const schemas = new Map(allowed.flatMap(({ schema }) => Object.entries(schema?.documents ?? {})));
  const lines = [...schemas].map(([file, document]) => {
    const name = file === '' ? 'The JSON Schema' : `The JSON Schema ${file}`;
    return `${name}: ${JSON.stringify(document)}`;
  });
  return lines.filter((line) => line.length <= LONGEST_SCHEMA).slice(0, MOST_SCHEMAS);
}

const LONGEST_SCHEMA = 8_000;
const MOST_SCHEMAS = 4;

/** Whether the parts of a policy entry allow a tag, whatever its schema. `withSharedNext` has given a fork the next of its answer. */
export function allows(workflow: Workflow, entry: AllowedTransition, tag: Tag): boolean {
  return (
    entry.tag === tag.name &&
    hasParts(policyParts(workflow, tag), policyParts(workflow, { ...entry, name: entry.tag }))
  );
}

/** Whether a tag has all parts that an author names. It may have others. */
export function matches(workflow: Workflow, named: AllowedTransition, tag: Tag): boolean {
  return (
    named.tag === tag.name &&
    hasParts(writtenParts(workflow, tag), writtenParts(workflow, { ...named, name: named.tag }))
  );
}

/**
 * The parts by which a policy compares a tag with an entry. An entry allows a tag that has all its
 * parts. A deciding attribute is always a part, also if it was not written.
 */
export function policyParts(workflow: Workflow, tag: Parts): ReadonlyMap<string, string> {
  const parts = new Map(writtenParts(workflow, tag));
  for (const [name, usual] of DECIDING_ATTRIBUTES) {
    if (isOwn(tag, name) && !parts.has(name)) parts.set(name, usual);
  }
  return parts;
}

/** The written parts in one spelling: names of states are resolved. The name of the body is ''. */
export function writtenParts(workflow: Workflow, tag: Parts): ReadonlyMap<string, string> {
  const parts = new Map<string, string>();
  if (tag.body !== undefined) {
    const isState = TAG_RULES[tag.name].body === 'target';
    parts.set('', isState ? resolved(workflow, tag.body) : tag.body.trim());
  }
  for (const [name, value] of Object.entries(tag.attributes)) {
    parts.set(name, isOwn(tag, name) ? spelled(workflow, name, value) : value);
  }
  return parts;
}

type Parts = Pick<Tag, 'name' | 'attributes'> & { readonly body?: string };

/** Whether Raymond itself reads an attribute. On a fork, `timeout` is a variable of the child. */
function isOwn({ name }: Parts, attribute: string): boolean {
  const { required, optional } = TAG_RULES[name];
  return required.includes(attribute) || optional.includes(attribute);
}

function spelled(workflow: Workflow, name: string, value: string): string {
  if (STATE_ATTRIBUTES.includes(name)) return resolved(workflow, value);
  if (name === 'timeout') return String(readDuration(value));
  return DECIDING_ATTRIBUTES.has(name) ? value.trim() : value;
}

function resolved(workflow: Workflow, written: string): string {
  const name = written.trim();
  const resolution = resolveState(workflow, name);
  return 'found' in resolution ? resolution.found : name;
}

/** Whether a tag has the parts of an entry. `open` are its parts whose value is not known yet. */
export function hasParts(
  parts: ReadonlyMap<string, string>,
  wanted: ReadonlyMap<string, string>,
  open: ReadonlySet<string> = new Set(),
): boolean {
  return [...wanted].every(([name, value]) => open.has(name) || parts.get(name) === value);
}

const isForkTag = (tag: Tag) => TAG_RULES[tag.name].variables;

/** An entry as a tag, with a placeholder for a question or payload that it leaves to the agent. */
function asTemplate({ tag: name, attributes, body, schema }: AllowedTransition): Tag {
  if (schema) return { name, attributes, body: `[JSON that fits ${schema.file || 'the schema'}]` };
  const open = TAG_RULES[name].body === 'question' ? '[your question]' : '[your result]';
  return { name, attributes, body: body ?? open };
}

const LONGEST_SHOWN = 200;

function shown(tag: Tag): string {
  const text = writeTag(tag).replace(/\s+/g, ' ');
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}
