/**
 * The ways out of a state that are known from its text. They come from the entries of its policy,
 * its evaluators, and the tags that its prompt shows or its script prints. Graph, lint and
 * exploration use this list.
 */

import type { StateName } from '../model/state-name.ts';
import type { Tag, TagName } from '../model/tag.ts';
import type {
  AllowedTransition,
  Position,
  PromptState,
  ScriptState,
  State,
  Workflow,
} from '../model/workflow.ts';
import { type Resolution, resolveState } from '../parse/resolve.ts';
import { STATE_ATTRIBUTES, TAG_RULES } from '../parse/transition.ts';
import { CHOSEN_LATER, type Shown, shownTags } from './shown-tags.ts';

export interface Way extends Position {
  readonly origin: Origin;
  readonly tag: TagName;
  /** The target, path, question or payload; absent when the policy leaves the text open. */
  readonly body?: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** The policy entry that allows it. */
  readonly entry?: AllowedTransition;
  /** One for every part of the tag that names a state. */
  readonly references: readonly StateReference[];
}

export type Origin = 'policy' | 'prompt' | 'script' | 'evaluator' | 'ensures';

export type ReferencePart = 'target' | 'return' | 'next' | 'timeout_next' | 'failed_next';

/** A state that a tag names, or the reason why it is unknown. */
export type StateReference = { readonly part: ReferencePart; readonly written: string } & (
  | { readonly kind: 'state'; readonly state: StateName }
  | { readonly kind: 'problem'; readonly resolution: Unresolved }
  /** Chosen while the step runs. */
  | { readonly kind: 'open' }
);

export type Unresolved = Exclude<Resolution, { found: StateName }>;

export function waysOf(workflow: Workflow, state: State): readonly Way[] {
  switch (state.kind) {
    case 'prompt':
      return promptWays(workflow, state);
    case 'script':
      return shownWays(workflow, state);
    case 'broken':
      return [];
  }
}

/** The states that can run on the workflow's platform, and broken ones. */
export function statesHere(workflow: Workflow): readonly State[] {
  return [...workflow.states.values()].filter((state) => {
    const resolution = resolveState(workflow, state.name);
    return 'found' in resolution || resolution.problem === 'broken';
  });
}

/** Whether a state that the tag needs is chosen only while the step runs. */
export function isOpen(way: Way): boolean {
  return way.references.some(({ kind }) => kind === 'open');
}

function promptWays(workflow: Workflow, state: PromptState): readonly Way[] {
  const { allowed, evaluators, ensures } = state.policy;
  const own = allowed
    ? allowed.map((entry) => {
        const { line, column } = entry;
        return way(workflow, entry, { origin: 'policy', entry, line, column });
      })
    : shownWays(workflow, state);
  const overrides = evaluators.map(({ transition, line, column }) =>
    way(workflow, transition, { origin: 'evaluator', line, column }),
  );
  const afterChecks = ensures.flatMap(({ otherwise, line, column }) =>
    otherwise ? [way(workflow, otherwise, { origin: 'ensures', line, column })] : [],
  );
  return [...own, ...overrides, ...afterChecks];
}

/** A way for each tag that a text shows, regardless of the policy. */
export function shownWays(workflow: Workflow, state: PromptState | ScriptState): readonly Way[] {
  return shownTags(workflow, state).map((mention) => mentionedWay(workflow, state, mention));
}

function mentionedWay(
  workflow: Workflow,
  state: PromptState | ScriptState,
  { tag, line, column }: Shown,
): Way {
  return way(workflow, tag, { origin: state.kind, line, column });
}

function way(
  workflow: Workflow,
  written: Tag | AllowedTransition,
  where: Position & Pick<Way, 'origin' | 'entry'>,
): Way {
  const tag = 'name' in written ? written.name : written.tag;
  const { body, attributes } = written;
  const rule = TAG_RULES[tag];
  const parts: [ReferencePart, string | undefined][] = [];
  if (rule.body === 'target') parts.push(['target', body]);
  for (const part of STATE_PARTS) {
    const isWritten = rule.optional.includes(part) && attributes[part] !== undefined;
    if (rule.required.includes(part) || isWritten) parts.push([part, attributes[part]]);
  }
  return {
    ...where,
    tag,
    ...(body !== undefined && { body }),
    attributes,
    references: parts.map(([part, name]) => referenceOf(workflow, where.origin, part, name)),
  };
}

const STATE_PARTS = (['return', 'next', 'timeout_next', 'failed_next'] as const).filter((part) =>
  STATE_ATTRIBUTES.includes(part),
);

function referenceOf(
  workflow: Workflow,
  origin: Origin,
  part: ReferencePart,
  name: string | undefined,
): StateReference {
  if (name === undefined) return { part, written: '', kind: 'open' };
  const written = name.trim();
  const resolution = resolveState(workflow, written);
  if ('found' in resolution) return { part, written, kind: 'state', state: resolution.found };
  const isText = origin === 'prompt' || origin === 'script';
  if (isText && resolution.problem === 'missing' && CHOSEN_LATER[origin].test(written)) {
    return { part, written, kind: 'open' };
  }
  return { part, written, kind: 'problem', resolution };
}
