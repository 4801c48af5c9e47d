import type { Tag } from '../../model/tag.ts';
import type { AllowedTransition, State, Workflow } from '../../model/workflow.ts';
import { tagChoices } from '../../parse/agent-choices.ts';
import { jsonInTag } from '../../parse/json.ts';
import { sampleOf } from '../../parse/json-sample.ts';
import { stemOf } from '../../parse/state.ts';
import { readTags } from '../../parse/tags.ts';
import { readMove, TAG_RULES, writeTag } from '../../parse/transition.ts';

/**
 * The answers that an agent may give in this state, in the author's order: the allowed transitions,
 * or the tags in the prompt. The variables of a fork come from the prompt, and texts are placeholders.
 */
export function possibleAnswers(
  workflow: Workflow,
  state: State | undefined,
  prompt: string,
): readonly string[] {
  if (state?.kind !== 'prompt') return [];
  const choices = tagChoices(workflow.agents);
  const written = [prompt, state.template].flatMap(
    (text) => readTags(text, { code: 'heeded' }).tags,
  );
  const likely = tagsFor(written);
  const wanted =
    state.policy.allowed?.flatMap((entry) => filled(entry, likely(entry)) ?? []) ?? written;
  const good = wanted
    .map(besideForks(wanted))
    .filter((tags) => readMove({ tags, bad: [] }, choices, 'agent').ok);
  return [...new Set(good.map((tags) => tags.map(writeTag).join('\n')))];
}

/** A fork without next needs a tag beside it that says how the parent continues. */
function besideForks(tags: readonly Tag[]): (tag: Tag) => readonly Tag[] {
  const own = tags.find(({ name }) => name === 'join') ?? tags.find(({ name }) => name === 'goto');
  return (tag) =>
    own && TAG_RULES[tag.name].variables && tag.attributes.next === undefined ? [tag, own] : [tag];
}

/** Looks up tags by name and target, so that a long policy is not compared with a whole long prompt. */
function tagsFor(written: readonly Tag[]): (entry: AllowedTransition) => readonly Tag[] {
  const found = new Map<string, Tag[]>();
  const keyOf = (name: string, target: string | undefined) =>
    target === undefined ? name : `${name} ${stemOf(target.trim())}`;
  for (const tag of written) {
    for (const key of [keyOf(tag.name, undefined), keyOf(tag.name, tag.body)]) {
      const others = found.get(key) ?? [];
      if (others.length < MAX_COMPARED) others.push(tag);
      found.set(key, others);
    }
  }
  return ({ tag, body }) =>
    found.get(keyOf(tag, TAG_RULES[tag].body === 'target' ? body : undefined)) ?? [];
}

const MAX_COMPARED = 100;

/** Undefined if no payload is known that fits its schema. */
function filled(entry: AllowedTransition, likely: readonly Tag[]): Tag | undefined {
  const sample = entry.schema && sampleOf(entry.schema);
  if (entry.schema && sample === undefined) return undefined;
  const { body: bodyName, variables } = TAG_RULES[entry.tag];
  const meant = variables ? likely.find((tag) => isOf(tag, entry)) : undefined;
  // The next of a fork is the author's to decide, and its variables are the agent's.
  const { next: _, ...chosen } = meant?.attributes ?? {};
  const usual = bodyName === 'question' ? 'What would you answer here?' : 'rehearsed';
  const placeholder = sample === undefined ? usual : jsonInTag(JSON.stringify(sample));
  return {
    name: entry.tag,
    attributes: { ...entry.attributes, ...chosen, ...entry.attributes },
    body: entry.body ?? placeholder,
  };
}

function isOf(tag: Tag, { attributes }: AllowedTransition): boolean {
  return Object.entries(attributes).every(([key, value]) => isSame(tag.attributes[key], value));
}

function isSame(a: string | undefined, b: string): boolean {
  return a !== undefined && stemOf(a.trim()) === stemOf(b.trim());
}
