/**
 * Matches the tags that a prompt shows with the entries of its policy. An entry is compared only
 * with tags that share a part with it. This keeps a long policy beside a long prompt cheap.
 */
import { policyParts } from '../interpret/policy.ts';
import type { AllowedTransition, PromptState, Workflow } from '../model/workflow.ts';
import { TAG_RULES, writeTag } from '../parse/transition.ts';
import { once } from './once.ts';
import { type Shown, shownTags } from './shown-tags.ts';

export interface PolicyFit {
  allows(shown: Shown): boolean;
  /** The tags that an entry allows; at most the first few. */
  shownFor(entry: AllowedTransition): readonly Shown[];
}

export function policyFit(workflow: Workflow, state: PromptState): PolicyFit {
  return fitsIn(workflow)(state);
}

const fitsIn = once((workflow: Workflow) =>
  once((state: PromptState) => compared(workflow, state)),
);

function compared(workflow: Workflow, state: PromptState): PolicyFit {
  const groups = groupsOf(workflow, state.policy.allowed ?? []);
  const byPart = bucketsOf(new Set(groups.values()));
  const allowed = new Set<Shown>();
  for (const shown of shownTags(workflow, state)) {
    const parts = partKeys(workflow, shown.tag);
    const alike = candidates(byPart, shown, parts);
    const leavesNext = shown.tag.attributes.next === undefined;
    for (const group of alike) {
      const hasPart = (part: string) => parts.has(part) || (leavesNext && isForksNext(group, part));
      if (!group.parts.every(hasPart)) continue;
      allowed.add(shown);
      if (group.shown.size < MOST_SHOWN) group.shown.set(writeTag(shown.tag), shown);
    }
    // Nothing is reported about a tag that was not compared with all entries.
    if (alike.length === MOST_COMPARED) allowed.add(shown);
  }
  return {
    allows: (shown) => allowed.has(shown),
    shownFor: (entry) => [...(groups.get(entry)?.shown.values() ?? [])],
  };
}

/** More tags for one entry, or entries for one tag, than a person would write. */
const MOST_SHOWN = 20;
const MOST_COMPARED = 1_000;

/** Entries that require the same parts. */
interface Group {
  readonly tag: AllowedTransition['tag'];
  readonly parts: readonly string[];
  /** By the text of the tag, so that a tag that occurs twice counts once. */
  readonly shown: Map<string, Shown>;
}

function groupsOf(
  workflow: Workflow,
  entries: readonly AllowedTransition[],
): ReadonlyMap<AllowedTransition, Group> {
  const known = new Map<string, Group>();
  return new Map(
    entries.map((entry) => {
      const parts = [...partKeys(workflow, { ...entry, name: entry.tag })].sort();
      const key = JSON.stringify([entry.tag, parts]);
      const group = known.get(key) ?? { tag: entry.tag, parts, shown: new Map() };
      known.set(key, group);
      return [entry, group];
    }),
  );
}

const partKey = (name: string, value: string) => JSON.stringify([name, value]);

/** A fork may omit `next` when another tag has it. */
function isForksNext({ tag }: Group, part: string): boolean {
  return TAG_RULES[tag].variables && part.startsWith('["next",');
}

function partKeys(workflow: Workflow, tag: Parameters<typeof policyParts>[1]): ReadonlySet<string> {
  return new Set([...policyParts(workflow, tag)].map(([name, value]) => partKey(name, value)));
}

type Buckets = ReadonlyMap<string, readonly Group[]>;

/** Each group is listed under its rarest part; a group without parts under its tag alone. */
function bucketsOf(groups: ReadonlySet<Group>): Buckets {
  const uses = new Map<string, number>();
  for (const { parts } of groups) {
    for (const part of parts) uses.set(part, (uses.get(part) ?? 0) + 1);
  }
  const buckets = new Map<string, Group[]>();
  for (const group of groups) {
    const sought = group.parts.filter((part) => !isForksNext(group, part));
    const [rarest] = sought.sort((a, b) => (uses.get(a) ?? 0) - (uses.get(b) ?? 0));
    const key = bucketKey(group.tag, rarest);
    const others = buckets.get(key);
    if (others) others.push(group);
    else buckets.set(key, [group]);
  }
  return buckets;
}

const bucketKey = (tag: string, part: string | undefined) => `${tag} ${part ?? ''}`;

function candidates(
  buckets: Buckets,
  { tag }: Shown,
  parts: ReadonlySet<string>,
): readonly Group[] {
  const found: Group[] = [];
  for (const part of [undefined, ...parts]) {
    const bucket = buckets.get(bucketKey(tag.name, part)) ?? [];
    found.push(...bucket.slice(0, MOST_COMPARED - found.length));
  }
  return found;
}
