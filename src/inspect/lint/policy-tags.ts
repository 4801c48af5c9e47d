/** What a prompt shows, against what its policy allows. */
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Tag } from '../../model/tag.ts';
import type { AllowedTransition, PromptState, State, Workflow } from '../../model/workflow.ts';
import { clip } from '../../parse/clip.ts';
import { resolveState } from '../../parse/resolve.ts';
import { stemOf } from '../../parse/state.ts';
import { TAG_RULES, writeTag } from '../../parse/transition.ts';
import { fits, isOpen, shownTags, waysOf } from '../ways.ts';
import { fault } from './codes.ts';
import { type Lint, prompts } from './rule.ts';

export function forbiddenTags(workflow: Workflow, state: State): readonly Diagnostic[] {
  const allowed = state.kind === 'prompt' ? state.policy.allowed : undefined;
  if (state.kind !== 'prompt' || !allowed) return [];
  const { allowed: _, ...free } = state.policy;
  const shown = waysOf(workflow, { ...state, policy: { ...free, evaluators: [] } });
  return shownTags(state).flatMap((mention, index) => {
    const way = shown[index];
    const isAllowed =
      way && isOpen(way)
        ? allowed.some(({ tag }) => tag === way.tag)
        : allowed.some((entry) => allows(workflow, entry, mention.tag));
    if (isAllowed) return [];
    const written = clip(writeTag(mention.tag).replace(/\s+/g, ' '));
    return fault(
      'forbidden-tag',
      state.name,
      mention,
      `${written} is not among allowed_transitions.`,
      {
        remedy: 'Allow it, or take it out of the prompt: an agent that writes it is sent back.',
      },
    );
  });
}

/** With several entries the agent has to choose, so it should be told of each. */
export function unmentionedEntries(lint: Lint): readonly Diagnostic[] {
  return prompts(lint).flatMap((state) => {
    const allowed = state.policy.allowed ?? [];
    if (allowed.length < 2) return [];
    return allowed.flatMap((entry) =>
      isMentioned(lint.workflow, state, entry)
        ? []
        : fault(
            'unmentioned-entry',
            state.name,
            { line: entry.line, column: 1 },
            `The prompt does not say when to use ${shownEntry(entry)}.`,
            {
              remedy: 'Say so in the prompt, or remove the entry.',
            },
          ),
    );
  });
}

function allows(workflow: Workflow, entry: AllowedTransition, tag: Tag): boolean {
  if (fits(workflow, entry, tag)) return true;
  // Beside forks a goto says where the parent goes on, in place of their next.
  const { next } = entry.attributes;
  if (tag.name !== 'goto' || !TAG_RULES[entry.tag].variables || next === undefined) return false;
  return nameOf(workflow, next) === nameOf(workflow, tag.body.trim());
}

function nameOf(workflow: Workflow, name: string): string {
  const resolution = resolveState(workflow, name);
  return 'found' in resolution ? resolution.found : name;
}

function isMentioned(workflow: Workflow, state: PromptState, entry: AllowedTransition): boolean {
  if (shownTags(state).some(({ tag }) => fits(workflow, entry, tag))) return true;
  const { body } = entry;
  if (body === undefined) return state.template.includes(`<${entry.tag}`);
  return state.template.includes(stemOf(body.trim()));
}

function shownEntry({ tag, body, attributes }: AllowedTransition): string {
  return clip(writeTag({ name: tag, attributes, body: body ?? '…' }));
}
