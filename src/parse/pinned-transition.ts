import { type Tag, type TagName, TRANSITION_TAGS } from '../model/tag.ts';
import type { AllowedTransition, PayloadSchema } from '../model/workflow.ts';
import { clip } from './clip.ts';
import { incompleteBecause, tagOf } from './implicit.ts';
import { nearest, suggestion } from './nearest.ts';
import { readPayloadSchema } from './payload-schema.ts';
import { attributesOf, readTransition, TAG_RULES } from './transition.ts';
import type { Field, Item, YamlReader } from './yaml-reader.ts';

/**
 * The entries of allowed_transitions. Each must say where its tag leads: an entry that leaves a
 * state open would allow every state. Only data, questions and payloads are left to the agent.
 */
export function readEntries(
  reader: YamlReader,
  items: readonly Item[],
  what: string,
  choices: readonly string[],
): readonly AllowedTransition[] {
  const read = items.flatMap((item) => {
    const faultsBefore = reader.errorCount();
    const entry = readPinned(reader, item, what, choices, true);
    return entry ? [{ entry, item, isSound: reader.errorCount() === faultsBefore }] : [];
  });
  const entries = read.map(({ entry }) => entry);
  const mayFork = entries.some(({ tag }) => tag === 'goto' || tag === 'join');
  for (const { entry, item, isSound } of read) {
    const missing = isSound ? missingIn(entry, mayFork, choices) : undefined;
    if (missing === undefined) continue;
    reader.error('incomplete-transition', item.offset, `${missing}.`, {
      remedy: 'Add the missing part. An entry names every state to which its tag can lead.',
    });
  }
  return entries;
}

/** The part that an entry lacks. A fork needs no next if another entry allows a goto or a join. */
function missingIn(
  { tag, body, attributes }: AllowedTransition,
  mayFork: boolean,
  choices: readonly string[],
): string | undefined {
  const { body: key, variables } = TAG_RULES[tag];
  if (body === undefined && (key === 'target' || key === 'path')) {
    return `<${tag}>: the ${key} is missing`;
  }
  if (variables && attributes.next === undefined && !mayFork) {
    return `<${tag}>: next is missing, and no entry allows a goto or a join beside the fork`;
  }
  // The agent may choose the worktree that a pinned base needs.
  const worktree = variables && attributes.base !== undefined ? { worktree: 'true' } : {};
  const filled = { name: tag, attributes: { ...worktree, ...attributes }, body: body ?? 'X' };
  const read = readTransition(filled, choices);
  return read.ok ? undefined : read.message;
}

/** The key of an entry that checks the payload of its tag. */
export const SCHEMA = 'schema';

/**
 * `{tag: call, target: X, return: Y}`: the parts that it names are checked, and the others are
 * open. Only an open payload can have a schema.
 */
function readPinned(
  reader: YamlReader,
  item: Item,
  what: string,
  choices: readonly string[],
  isOpen: boolean,
): AllowedTransition | undefined {
  const fields = reader.fields(item, what, 'a map like {tag: goto, target: NEXT}');
  const tag = fields && readTagName(reader, item, fields, what);
  if (!fields || !tag) return undefined;
  const bodyKey = TAG_RULES[tag].body;
  let body: string | undefined;
  let schema: PayloadSchema | undefined;
  const attributes: [string, string][] = [];
  for (const field of fields) {
    if (field.key === 'tag') continue;
    if (field.key === SCHEMA && bodyKey === 'payload' && isOpen) {
      schema = readPayloadSchema(reader, field);
      continue;
    }
    const value = reader.text(field, field.key);
    if (value === undefined) continue;
    if (field.key === bodyKey) body = value;
    else attributes.push([field.key, value]);
    checkPart(reader, tag, field, value, choices);
  }
  if (schema && body !== undefined) {
    reader.error('bad-transition', item.offset, `${what} has both a payload and a schema.`, {
      remedy: 'Keep one of them.',
    });
  }
  return {
    tag,
    ...(body === undefined ? {} : { body }),
    attributes: Object.fromEntries(attributes),
    ...(schema && { schema }),
    ...reader.positionOf(item.offset),
  };
}

/** A transition that is complete as written. */
export function readComplete(
  reader: YamlReader,
  item: Item,
  what: string,
  choices: readonly string[],
): Tag | undefined {
  const faultsBefore = reader.errorCount();
  const pinned = readPinned(reader, item, what, choices, false);
  if (!pinned || reader.errorCount() > faultsBefore) return undefined;
  const tag = tagOf(pinned);
  const key = TAG_RULES[pinned.tag].body;
  const missing = tag ? incompleteBecause(tag, choices) : `<${pinned.tag}>: the ${key} is missing`;
  if (missing === undefined) return tag;
  return reader.error('incomplete-transition', item.offset, `${missing}.`, {
    remedy: `Write everything that the tag needs: ${what} is used as written.`,
  });
}

function readTagName(
  reader: YamlReader,
  item: Item,
  fields: readonly Field[],
  what: string,
): TagName | undefined {
  const field = fields.find(({ key }) => key === 'tag');
  if (!field) {
    return reader.error('missing-tag', item.offset, `${what} has no tag.`, {
      remedy: 'Name a tag, like tag: goto.',
    });
  }
  const written = reader.text(field, 'tag', 'the name of a tag');
  return written === undefined ? undefined : tagNamed(reader, field, written);
}

/** The tag that an author names, which must exist. */
export function tagNamed(reader: YamlReader, { offset }: Item, name: string): TagName | undefined {
  const known = TRANSITION_TAGS.find((tag) => tag === name);
  if (known) return known;
  const message = `There is no tag "${clip(name)}".`;
  const otherwise = `The tags are ${TRANSITION_TAGS.join(', ')}.`;
  const details = suggestion(nearest(name, TRANSITION_TAGS), otherwise);
  return reader.error('unknown-tag', offset, message, details);
}

function checkPart(
  reader: YamlReader,
  tag: TagName,
  field: Field,
  value: string,
  choices: readonly string[],
): void {
  const { body, variables } = TAG_RULES[tag];
  const known = [body, ...attributesOf(tag, choices)];
  const isKnown = known.includes(field.key);
  if (!variables && !isKnown && BODY_KEYS.has(field.key)) {
    const message = `<${tag}> has no ${field.key}: its body is the ${body}.`;
    reader.error('bad-transition', field.keyOffset, message, { nearest: body });
    return;
  }
  const problem = partProblem(tag, field.key, value, choices);
  if (problem === undefined) return;
  const meant = isKnown || variables ? undefined : nearest(field.key, known);
  const offset = isKnown ? field.offset : field.keyOffset;
  reader.error('bad-transition', offset, `${problem}.`, {
    ...(meant ? { remedy: `Did you mean ${meant}?` } : {}),
    nearest: meant,
  });
}

const BODY_KEYS: ReadonlySet<string> = new Set(Object.values(TAG_RULES).map(({ body }) => body));

/** Checks one part in a tag whose other parts are valid. */
function partProblem(
  tag: TagName,
  key: string,
  value: string,
  choices: readonly string[],
): string | undefined {
  const rule = TAG_RULES[tag];
  const fine = Object.fromEntries(rule.required.map((name) => [name, 'X']));
  const timeouts =
    rule.optional.includes(key) && key.startsWith('timeout')
      ? { timeout: '1s', timeout_next: 'X' }
      : {};
  const worktree = rule.variables && key === 'base' ? { worktree: 'true' } : {};
  const approvers = rule.optional.includes('to') && key === 'of' ? { to: 'X' } : {};
  const read = readTransition(
    key === rule.body
      ? { name: tag, attributes: fine, body: value }
      : {
          name: tag,
          attributes: { ...fine, ...timeouts, ...worktree, ...approvers, [key]: value },
          body: 'X',
        },
    choices,
  );
  return read.ok ? undefined : read.message;
}
