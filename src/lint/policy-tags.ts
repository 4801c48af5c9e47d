/** Compares the tags that a prompt shows with the tags that its policy allows. */

import { policyFit } from '../graph/policy-fit.ts';
import { shownTags } from '../graph/shown-tags.ts';
import { isOpen, shownWays } from '../graph/ways.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { AllowedTransition, State, Workflow } from '../model/workflow.ts';
import { clip } from '../parse/clip.ts';
import { resolveState } from '../parse/resolve.ts';
import { stemOf } from '../parse/state.ts';
import { TAG_RULES, writeTag } from '../parse/transition.ts';
import { fault } from './codes.ts';
import { type Lint, prompts } from './rule.ts';

export function forbiddenTags(workflow: Workflow, state: State): readonly Diagnostic[] {
  const allowed = state.kind === 'prompt' ? state.policy.allowed : undefined;
  // With force_implicit, no tag is read, so none is rejected.
  if (state.kind !== 'prompt' || !allowed || state.policy.forceImplicit) return [];
  const fit = policyFit(workflow, state);
  const ways = shownWays(workflow, state);
  const tags = new Set(allowed.map(({ tag }) => tag));
  const nexts = forkNexts(workflow, allowed);
  return shownTags(workflow, state).flatMap((mention, index) => {
    const { tag } = mention;
    const way = ways[index];
    // Beside forks, a goto names the state at which the parent continues, in place of their next.
    const isNext = tag.name === 'goto' && nexts.has(nameOf(workflow, tag.body.trim()));
    const isAllowed = way && isOpen(way) ? tags.has(tag.name) : isNext || fit.allows(mention);
    if (isAllowed) return [];
    const written = clip(writeTag(mention.tag).replace(/\s+/g, ' '));
    return fault(
      'forbidden-tag',
      state.name,
      mention,
      `${written} is not among allowed_transitions.`,
      {
        remedy:
          'Allow it, or remove it from the prompt. Raymond rejects an answer that contains it.',
      },
    );
  });
}

/** With several entries the agent must choose, so the prompt should mention each. */
export function unmentionedEntries(lint: Lint): readonly Diagnostic[] {
  return prompts(lint).flatMap((state) => {
    const allowed = state.policy.allowed ?? [];
    if (allowed.length < 2) return [];
    const fit = policyFit(lint.workflow, state);
    const mentions = mentionsIn(state.template);
    return allowed.flatMap((entry) =>
      fit.shownFor(entry).length > 0 || mentions(entry)
        ? []
        : fault(
            'unmentioned-entry',
            state.name,
            entry,
            `The prompt does not mention ${shownEntry(entry)}.`,
            {
              remedy: 'Say in the prompt when to use it, or remove the entry.',
            },
          ),
    );
  });
}

function forkNexts(workflow: Workflow, allowed: readonly AllowedTransition[]): ReadonlySet<string> {
  return new Set(
    allowed.flatMap(({ tag, attributes: { next } }) =>
      TAG_RULES[tag].variables && next !== undefined ? nameOf(workflow, next) : [],
    ),
  );
}

function nameOf(workflow: Workflow, name: string): string {
  const resolution = resolveState(workflow, name);
  return 'found' in resolution ? resolution.found : name;
}

/** The most searches of the whole text. No author writes more entries. */
const MOST_SEARCHES = 200;

/** Whether a prompt names the target of an entry, or its tag when the entry leaves the target open. */
function mentionsIn(template: string): (entry: AllowedTransition) => boolean {
  const words = new Set(template.match(/[\p{L}\p{N}_.-]+/gu));
  const found = new Map<string, boolean>();
  return ({ tag, body }) => {
    const sought = body === undefined ? `<${tag}` : stemOf(body.trim());
    if (words.has(sought)) return true;
    const known = found.get(sought);
    if (known !== undefined || found.size >= MOST_SEARCHES) return known ?? true;
    const isMentioned = template.includes(sought);
    found.set(sought, isMentioned);
    return isMentioned;
  };
}

function shownEntry({ tag, body, attributes }: AllowedTransition): string {
  return clip(writeTag({ name: tag, attributes, body: body ?? '…' }));
}
