/** Names of states that refer to no state, or to several. */

import type { Unresolved, Way } from '../graph/ways.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { StateName } from '../model/state-name.ts';
import type { Position } from '../model/workflow.ts';
import { clip } from '../parse/clip.ts';
import { resolveState } from '../parse/resolve.ts';
import { stemOf } from '../parse/state.ts';
import { type Code, fault } from './codes.ts';
import { limitedHints } from './hints.ts';
import { allWays, type Lint, prompts, startOf } from './rule.ts';

/** Targets, returns, nexts and timeouts. */
export function unresolvedNames(lint: Lint): readonly Diagnostic[] {
  const explain = explanations();
  return allWays(lint).flatMap(({ state, way }) => explain(state, way));
}

/** The diagnostics for the names of a way. */
export function explanations(): (state: StateName, way: Way) => readonly Diagnostic[] {
  const hint = limitedHints();
  return (state, way) =>
    way.references.flatMap((reference) =>
      reference.kind === 'problem'
        ? unresolved(state, way, reference, hint, `The ${reference.part} of this <${way.tag}>`)
        : [],
    );
}

export function unresolvedJudges(lint: Lint): readonly Diagnostic[] {
  const hint = limitedHints();
  return prompts(lint).flatMap(({ name, policy }) =>
    policy.evaluators.flatMap((evaluator) => {
      if (evaluator.kind !== 'prompt') return [];
      const { state: written } = evaluator;
      const resolution = resolveState(lint.workflow, written);
      if ('found' in resolution) return [];
      const named = { written, resolution };
      return unresolved(name, evaluator, named, hint, 'The judge of this evaluator');
    }),
  );
}

/** A name without its extension is ambiguous wherever it is used. This rule warns before that happens. */
export function sameStems({ states }: Lint): readonly Diagnostic[] {
  const byStem = new Map<string, StateName>();
  return states.flatMap((state) => {
    const { name } = state;
    const first = byStem.get(stemOf(name));
    if (first === undefined) byStem.set(stemOf(name), name);
    if (first === undefined) return [];
    return fault(
      'same-stem',
      name,
      startOf(state),
      `${name} and ${first} share the name ${stemOf(name)}, so that name alone is ambiguous.`,
      { remedy: 'Rename one of them, or always write the extension.' },
    );
  });
}

interface Named {
  readonly written: string;
  readonly resolution: Unresolved;
}

export function unresolved(
  file: string,
  position: Position,
  { written, resolution }: Named,
  hint: ReturnType<typeof limitedHints>,
  subject: string,
): readonly Diagnostic[] {
  const { problem } = resolution;
  const code = CODES[problem];
  // A broken state is reported at the state itself.
  if (!code) return [];
  const { message, close } = hint(() => ({
    message: resolution.message,
    close: resolution.close,
  })) ?? { message: `The name is "${clip(written)}".`, close: [] };
  const [meant] = close;
  const remedy = REMEDIES[problem](meant);
  return [
    fault(code, file, position, `${subject} ${FACTS[problem]}. ${message}`, {
      remedy,
      ...(problem === 'missing' && meant !== undefined && { nearest: meant }),
    }),
  ];
}

const CODES: Readonly<Record<Unresolved['problem'], Code | undefined>> = {
  missing: 'missing-state',
  ambiguous: 'ambiguous-state',
  'wrong-platform': 'wrong-platform',
  broken: undefined,
};

const FACTS: Readonly<Record<Unresolved['problem'], string>> = {
  missing: 'does not exist',
  ambiguous: 'is ambiguous',
  'wrong-platform': 'is for another platform',
  broken: 'cannot be read',
};

const REMEDIES: Readonly<Record<Unresolved['problem'], (meant: string | undefined) => string>> = {
  missing: (meant) =>
    meant ? `Did you mean ${meant}?` : 'Add the state, or name an existing one.',
  ambiguous: (meant) => `Add the extension${meant ? `, for example ${meant}` : ''}.`,
  'wrong-platform': () => 'Add a state with that name for the platform.',
  broken: () => 'Correct the state.',
};
