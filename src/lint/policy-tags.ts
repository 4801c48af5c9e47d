/** Compares the tags that a prompt shows with the tags that its policy allows. */

import { policyFit } from '../graph/policy-fit.ts';
import { shownTags } from '../graph/shown-tags.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { AllowedTransition, State, Workflow } from '../model/workflow.ts';
import { clip } from '../parse/clip.ts';
import { stemOf } from '../parse/state.ts';
import { writeTag } from '../parse/transition.ts';
import { fault } from './codes.ts';
import { type Lint, prompts } from './rule.ts';

export function forbiddenTags(workflow: Workflow, state: State): readonly Diagnostic[] {
  // With force_implicit, no tag is read, so none is rejected.
  if (state.kind !== 'prompt' || !state.policy.allowed || state.policy.forceImplicit) return [];
  const fit = policyFit(workflow, state);
  return shownTags(workflow, state).flatMap((mention) => {
    if (fit.allows(mention)) return [];
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
      fit.isShown(entry) || mentions(entry)
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
