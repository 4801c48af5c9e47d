/**
 * Matches the tags that a prompt shows with the entries of its policy. An entry is compared only
 * with tags that share a part with it. This keeps a long policy beside a long prompt cheap.
 */
import { hasParts, policyParts, withSharedNext } from '../interpret/policy.ts';
import type { AllowedTransition, PromptState, Workflow } from '../model/workflow.ts';
import { TAG_RULES } from '../parse/transition.ts';
import { once } from './once.ts';
import { type Shown, shownAnswers, shownTags } from './shown-tags.ts';
import { shownWays } from './ways.ts';

interface PolicyFit {
  allows(shown: Shown): boolean;
  /** Whether the prompt shows a tag that an entry allows. */
  isShown(entry: AllowedTransition): boolean;
}

export function policyFit(workflow: Workflow, state: PromptState): PolicyFit {
  return fitsIn(workflow)(state);
}

const fitsIn = once((workflow: Workflow) =>
  once((state: PromptState) => compared(workflow, state)),
);

function compared(workflow: Workflow, state: PromptState): PolicyFit {
  const groups = groupsOf(workflow, state.policy.allowed ?? []);
  const buckets = bucketsOf(new Set(groups.values()));
  const openStates = openStatesOf(workflow, state);
  const allowed = new Set<Shown>();
  const shownGroups = new Set<Group>();
  for (const answer of shownAnswers(workflow, state)) {
    const tags = withSharedNext(answer.map(({ tag }) => tag));
    for (const [index, shown] of answer.entries()) {
      const parts = policyParts(workflow, tags[index] ?? shown.tag);
      const open = new Set([...shown.open, ...(openStates.get(shown) ?? [])]);
      const alike = candidates(buckets, shown, open.size > 0 ? undefined : parts);
      // The next of a fork that stands alone may be on another fork of the answer.
      if (answer.length === 1 && isForkWithoutNext(shown)) open.add('next');
      const fitting = alike.filter((group) => hasParts(parts, group.parts, open));
      for (const group of fitting) shownGroups.add(group);
      // Nothing is reported about a tag that was not compared with all entries.
      if (fitting.length > 0 || alike.length === MOST_COMPARED) allowed.add(shown);
    }
  }
  return {
    allows: (shown) => allowed.has(shown),
    isShown: (entry) => {
      const group = groups.get(entry);
      return group !== undefined && shownGroups.has(group);
    },
  };
}
/** More entries for one tag than a person would write. */
const MOST_COMPARED = 1_000;

/** The parts of each tag that name a state, and whose state only a run knows. */
function openStatesOf(
  workflow: Workflow,
  state: PromptState,
): ReadonlyMap<Shown, readonly string[]> {
  const ways = shownWays(workflow, state);
  return new Map(
    shownTags(workflow, state).map((shown, index) => {
      const open = ways[index]?.references.filter(({ kind }) => kind === 'open') ?? [];
      return [shown, open.map(({ part }) => (part === 'target' ? '' : part))];
    }),
  );
}

const isForkWithoutNext = ({ tag }: Shown) =>
  TAG_RULES[tag.name].variables && tag.attributes.next === undefined;

type Parts = ReadonlyMap<string, string>;

/** Entries that require the same parts. */
interface Group {
  readonly tag: AllowedTransition['tag'];
  readonly parts: Parts;
}

function groupsOf(
  workflow: Workflow,
  entries: readonly AllowedTransition[],
): ReadonlyMap<AllowedTransition, Group> {
  const known = new Map<string, Group>();
  return new Map(
    entries.map((entry) => {
      const parts = policyParts(workflow, { ...entry, name: entry.tag });
      const key = JSON.stringify([entry.tag, [...parts].map(partKey).sort()]);
      const group = known.get(key) ?? { tag: entry.tag, parts };
      known.set(key, group);
      return [entry, group];
    }),
  );
}

const partKey = ([name, value]: readonly [string, string]) => JSON.stringify([name, value]);

type Buckets = ReadonlyMap<string, readonly Group[]>;

/** Lists each group under its tag and under its rarest part. */
function bucketsOf(groups: ReadonlySet<Group>): Buckets {
  const uses = new Map<string, number>();
  for (const { parts } of groups) {
    for (const part of parts) uses.set(partKey(part), (uses.get(partKey(part)) ?? 0) + 1);
  }
  const buckets = new Map<string, Group[]>();
  const list = (key: string, group: Group) => {
    const others = buckets.get(key);
    if (others) others.push(group);
    else buckets.set(key, [group]);
  };
  for (const group of groups) {
    // Any fork of an answer may have the next, so it cannot be used to find a fork.
    const keys = [...group.parts]
      .filter(([name]) => !(TAG_RULES[group.tag].variables && name === 'next'))
      .map(partKey)
      .sort((a, b) => (uses.get(a) ?? 0) - (uses.get(b) ?? 0));
    list(bucketKey(group.tag, 'any'), group);
    list(bucketKey(group.tag, keys[0] ?? 'no part'), group);
  }
  return buckets;
}

const bucketKey = (tag: string, part: string) => `${tag} ${part}`;

/** The groups that may fit a tag: those that share a part with it, or all if its parts are unknown. */
function candidates(buckets: Buckets, { tag }: Shown, parts: Parts | undefined): readonly Group[] {
  const found: Group[] = [];
  for (const key of parts ? ['no part', ...[...parts].map(partKey)] : ['any']) {
    const bucket = buckets.get(bucketKey(tag.name, key)) ?? [];
    found.push(...bucket.slice(0, MOST_COMPARED - found.length));
  }
  return found;
}
