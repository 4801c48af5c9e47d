import type { Tag } from '../model/tag.ts';
import type { AllowedTransition, State } from '../model/workflow.ts';
import { stemOf } from '../parse/state.ts';
import { readTags } from '../parse/tags.ts';
import { readMove, TAG_RULES, writeTag } from '../parse/transition.ts';

/**
 * What an agent in this state may answer, in the author's order: the allowed transitions, or the tags
 * that the prompt mentions. What is left open is filled from the prompt, or with a placeholder.
 */
export function possibleAnswers(state: State | undefined, prompt: string): readonly string[] {
  if (state?.kind !== 'prompt') return [];
  const written = [prompt, state.template].flatMap(
    (text) => readTags(text, { code: 'heeded' }).tags,
  );
  const wanted = state.policy.allowed?.map((entry) => filled(entry, written)) ?? written;
  const good = wanted.filter((tag) => readMove({ tags: [tag], bad: [] }).ok);
  return [...new Set(good.map(writeTag))];
}

function filled(entry: AllowedTransition, written: readonly Tag[]): Tag {
  const { required, optional, body: bodyName } = TAG_RULES[entry.tag];
  const meant = written.find((tag) => tag.name === entry.tag && isOf(tag, entry));
  const needed = [...required, ...(optional.includes('next') ? ['next'] : [])];
  const fromPrompt = meant && isFork(entry) ? meant.attributes : pick(meant?.attributes, needed);
  const placeholder = bodyName === 'payload' || bodyName === 'question';
  return {
    name: entry.tag,
    attributes: { ...fromPrompt, ...entry.attributes },
    body: entry.body ?? (placeholder ? PLACEHOLDERS[bodyName] : (meant?.body ?? '')),
  };
}

const PLACEHOLDERS = { payload: 'rehearsed', question: 'What would you answer here?' };

const isFork = ({ tag }: AllowedTransition) => TAG_RULES[tag].variables;

function isOf(tag: Tag, { tag: name, body, attributes }: AllowedTransition): boolean {
  if (body !== undefined && TAG_RULES[name].body === 'target' && !isSame(tag.body, body)) {
    return false;
  }
  return Object.entries(attributes).every(([key, value]) => isSame(tag.attributes[key], value));
}

function isSame(a: string | undefined, b: string): boolean {
  return a !== undefined && stemOf(a.trim()) === stemOf(b.trim());
}

function pick(
  from: Readonly<Record<string, string>> | undefined,
  names: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(from ?? {}).filter(([name]) => names.includes(name)));
}
