/** `{{names}}` in prompts that nothing replaces. */

import { positionsIn } from '../graph/position.ts';
import { shownTags } from '../graph/shown-tags.ts';
import { namedSecrets } from '../interpret/rights.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { StateName } from '../model/state-name.ts';
import type { PromptState } from '../model/workflow.ts';
import { nameIndex } from '../parse/nearest.ts';
import { GIVEN_NAMES, JUDGE_NAMES, PLACEHOLDER } from '../parse/placeholders.ts';
import { resolveState } from '../parse/resolve.ts';
import { TAG_RULES } from '../parse/transition.ts';
import { fault } from './codes.ts';
import { limitedHints } from './hints.ts';
import { allWays, type Lint, prompts, startOf } from './rule.ts';

export function unfilledPlaceholders(lint: Lint): readonly Diagnostic[] {
  const given = namesFor(givenNames(lint));
  const givenToJudges = namesFor(new Set([...given.names, ...JUDGE_NAMES]));
  const judges = judgesOf(lint);
  const hint = limitedHints();
  const secrets = new Set(namedSecrets(lint.workflow));
  return prompts(lint).flatMap((state) => {
    if (state.policy.fill) return [];
    const known = judges.has(state.name) ? givenToJudges : given;
    const position = positionsIn(state.template, state.place);
    return [...state.template.matchAll(PLACEHOLDER)].flatMap((match) => {
      const name = match[1] ?? '';
      // `secretsInPrompts` says more about a secret.
      if (known.names.has(name) || secrets.has(name)) return [];
      const [meant] = hint(() => known.index.nearest(name, 1)) ?? [];
      // Other tools have placeholders with dots.
      if (match[2] !== '' && meant === undefined) return [];
      const message = `Nothing fills ${match[0]}: no fork sets it, and Raymond does not define it.`;
      return fault('unfilled-placeholder', state.name, position(match.index), message, {
        remedy: meant
          ? `Did you mean {{${meant}${match[2] ?? ''}}}?`
          : `Pass it to the child agent as an attribute of its fork, or to the run with --set ${name}=….`,
        ...(meant !== undefined && { nearest: meant }),
      });
    });
  });
}

/** A place for notes in a state that gets none, and notes that no prompt mentions. */
export function misplacedNotes(lint: Lint): readonly Diagnostic[] {
  return prompts(lint).flatMap((state) => {
    const at = state.template.indexOf('{{notes_folder}}');
    if (at >= 0 === (state.policy.notes !== undefined)) return [];
    const where = positionsIn(state.template, state.place)(Math.max(0, at));
    if (at >= 0) {
      const message = `${state.name} uses {{notes_folder}}, but gets no notes.`;
      const remedy =
        'Add notes: read or notes: write to its front matter, or remove the placeholder.';
      return fault('misplaced-notes', state.name, where, message, { remedy });
    }
    const message = `${state.name} gets notes, but its prompt does not say where: it has no {{notes_folder}}.`;
    const remedy = 'Name the folder in the prompt, or remove notes.';
    return fault('misplaced-notes', state.name, where, message, { remedy });
  });
}

/** `fill` for placeholders that all have a value. */
export function uselessFills(lint: Lint): readonly Diagnostic[] {
  const given = givenNames(lint);
  return prompts(lint).flatMap((state) => {
    const names = [...state.template.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
    if (!state.policy.fill || names.some((name) => !given.has(name))) return [];
    const message = `fill has no effect: every placeholder of ${state.name} has a value.`;
    const remedy = 'Remove it, or add a placeholder without a value.';
    return fault('unused-key', state.name, startOf(state), message, { remedy });
  });
}

const namesFor = (names: ReadonlySet<string>) => ({ names, index: nameIndex(names) });

/**
 * `{{ result }}` looks like a placeholder and is not one. Names that the run never receives may
 * belong to another tool.
 */
export function spacedPlaceholders(lint: Lint): readonly Diagnostic[] {
  const given = givenNames(lint);
  return prompts(lint).flatMap((state) => {
    const position = positionsIn(state.template, state.place);
    const spaced = /(?<!\$)\{\{(?=\s|\w+\s)\s*([A-Za-z_]\w*)\s*\}\}/g;
    return [...state.template.matchAll(spaced)].flatMap((match) => {
      const name = match[1] ?? '';
      if (!given.has(name)) return [];
      const message = `${match[0]} has spaces inside its braces and is not filled.`;
      return fault('spaced-placeholder', state.name, position(match.index), message, {
        remedy: `Write {{${name}}}.`,
      });
    });
  });
}

/** Includes tags that a prompt only shows: an agent fills in their values. */
function givenNames(lint: Lint): ReadonlySet<string> {
  const tags = [
    ...allWays(lint).map(({ way }) => ({ name: way.tag, attributes: way.attributes })),
    ...prompts(lint).flatMap((state: PromptState) =>
      shownTags(lint.workflow, state).map(({ tag }) => tag),
    ),
  ];
  const variables = tags.flatMap(({ name, attributes }) =>
    TAG_RULES[name].variables ? Object.keys(attributes) : [],
  );
  return new Set([...GIVEN_NAMES, ...variables, ...(lint.options.variables ?? [])]);
}

function judgesOf(lint: Lint): ReadonlySet<StateName> {
  const named = prompts(lint).flatMap(({ policy }) =>
    policy.evaluators.flatMap((evaluator) => (evaluator.kind === 'prompt' ? evaluator.state : [])),
  );
  return new Set(
    named.flatMap((name) => {
      const resolution = resolveState(lint.workflow, name);
      return 'found' in resolution ? resolution.found : [];
    }),
  );
}
