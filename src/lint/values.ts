/** Values that are passed and not used, or used and not passed. */

import { positionsIn } from '../graph/position.ts';
import { isOpen, shownWays, type Way } from '../graph/ways.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { StateName } from '../model/state-name.ts';
import type { State } from '../model/workflow.ts';
import { USE_OF_VALUE, USE_OF_VALUE_IN_SCRIPT, variableOf } from '../parse/placeholders.ts';
import { fault } from './codes.ts';
import { allWays, type Lint, prompts } from './rule.ts';

/** A state that uses its value although no transition to it passes one. */
export function emptyValues(lint: Lint): readonly Diagnostic[] {
  const ways = [...allWays(lint).map(({ way }) => way), ...waysInPrompts(lint)];
  if (ways.some(isOpen)) return [];
  const entered = new Set(ways.flatMap((way) => statesNamedBy(way).map(({ state }) => state)));
  const withValue = new Set(ways.flatMap(statesGivenValueBy));
  return prompts(lint).flatMap((state) => {
    const match = USE_OF_VALUE.exec(state.template);
    const getsValue = state.name === lint.workflow.entry || withValue.has(state.name);
    if (!match || getsValue || !entered.has(state.name)) return [];
    const position = positionsIn(state.template, state.place)(match.index);
    const message = `${match[0]} is always empty here: no call returns to ${state.name}, no answer or join leads to it, and no tag passes it an input.`;
    return fault('empty-value', state.name, position, message, {
      remedy: 'Add input="…" to the tag that leads here, or remove the placeholder.',
    });
  });
}

export function unreadResults(lint: Lint): readonly Diagnostic[] {
  return allWays(lint).flatMap(({ state, way }) =>
    statesNamedBy(way).flatMap((reference) => {
      const returnState =
        reference.part === 'return' ? lint.workflow.states.get(reference.state) : undefined;
      if (!returnState || usesValue(returnState)) return [];
      const message = `${returnState.name} does not use the result of this <${way.tag}>, so it is lost.`;
      return fault('unread-result', state, way, message, {
        remedy:
          returnState.kind === 'prompt'
            ? `Write {{result}} in ${returnState.name}.`
            : `Read ${variableOf('result')} in ${returnState.name}.`,
      });
    }),
  );
}

/** With a policy, the prompt still shows which tags have an input. */
function waysInPrompts(lint: Lint): readonly Way[] {
  return prompts(lint).flatMap((state) =>
    shownWays(lint.workflow, state).filter((way) => !isOpen(way)),
  );
}

function statesNamedBy(way: Way) {
  return way.references.flatMap((reference) => (reference.kind === 'state' ? [reference] : []));
}

function statesGivenValueBy(way: Way): readonly StateName[] {
  const passesValue = (part: string) => {
    if (part === 'return' || way.tag === 'join') return true;
    if (part === 'next') return way.tag === 'ask';
    return part === 'target' && way.attributes.input !== undefined;
  };
  return statesNamedBy(way).flatMap(({ part, state }) => (passesValue(part) ? state : []));
}

function usesValue(state: State): boolean {
  switch (state.kind) {
    case 'prompt':
      return USE_OF_VALUE.test(state.template);
    case 'script':
      return USE_OF_VALUE_IN_SCRIPT.test(state.text);
    case 'broken':
      return true;
  }
}
