/** Names of states that mean nothing, or too much. */
import type { Diagnostic } from '../../model/diagnostic.ts';
import { resolveState } from '../../parse/resolve.ts';
import { stemOf } from '../../parse/state.ts';
import type { Position } from '../position.ts';
import type { Unresolved } from '../ways.ts';
import { type Code, fault } from './codes.ts';
import { allWays, type Lint, prompts } from './rule.ts';

/** Targets, returns, nexts and timeouts. */
export function unresolvedNames(lint: Lint): readonly Diagnostic[] {
  return allWays(lint).flatMap(({ state, way }) =>
    way.places.flatMap((place) =>
      place.kind === 'problem'
        ? unresolved(state, way, place.resolution, `The ${place.part} of this <${way.tag}>`)
        : [],
    ),
  );
}

export function unresolvedJudges(lint: Lint): readonly Diagnostic[] {
  return prompts(lint).flatMap(({ name, policy }) =>
    policy.evaluators.flatMap((evaluator) => {
      if (evaluator.kind !== 'prompt') return [];
      const resolution = resolveState(lint.workflow, evaluator.state);
      if ('found' in resolution) return [];
      const position = { line: evaluator.line, column: 1 };
      return unresolved(name, position, resolution, 'The judge of this evaluator');
    }),
  );
}

/** A bare name is ambiguous wherever it is used; that it will be is seen here, before it is. */
export function sameStems({ states }: Lint): readonly Diagnostic[] {
  return states.flatMap(({ name }, index) => {
    const first = states.find((other) => stemOf(other.name) === stemOf(name));
    if (!first || states.indexOf(first) === index) return [];
    return fault(
      'same-stem',
      name,
      { line: 1, column: 1 },
      `${name} and ${first.name} share the name ${stemOf(name)}, which alone means neither.`,
      { remedy: 'Rename one, or always write the ending.' },
    );
  });
}

function unresolved(
  file: string,
  position: Position,
  { problem, message, close }: Unresolved,
  subject: string,
): readonly Diagnostic[] {
  const code = CODES[problem];
  // What is wrong with a broken state is said where it is broken.
  if (!code) return [];
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
    meant ? `Did you mean ${meant}?` : 'Add the state, or name one that is there.',
  ambiguous: (meant) => `Write the ending too, like ${meant}.`,
  'wrong-platform': () => 'Add a state of that name for the platform.',
  broken: () => 'Repair the state.',
};
