/** The prompts that one entry of a state can take, if its agents answer as badly as they may. */
import { waysOf } from '../graph/ways.ts';
import { MOST_REMINDERS } from '../interpret/decide-answer.ts';
import { unfilledNames } from '../interpret/fill-prompt.ts';
import type { StateName } from '../model/state-name.ts';
import type { PromptState, State, Workflow } from '../model/workflow.ts';
import { tagChoices } from '../parse/agent-choices.ts';
import { implicitTag } from '../parse/implicit.ts';
import { resolveState } from '../parse/resolve.ts';

/** Turns with the prompt of a state: the state itself, or one of its judges. */
export interface Turns {
  readonly state: StateName;
  readonly count: number;
}

export function turnsOf(workflow: Workflow, state: State): readonly Turns[] {
  const handover = handsOver(workflow, state) ? 1 : 0;
  if (state.kind !== 'prompt') return handover > 0 ? [{ state: state.name, count: handover }] : [];
  const { allowed, evaluators, ensures } = state.policy;
  const reminders = allowed && !isCertain(workflow, state) ? MOST_REMINDERS : 0;
  const failedChecks = ensures.reduce((sum, { tries }) => sum + tries, 0);
  const judges = evaluators.flatMap((one) => {
    if (one.kind !== 'prompt') return [];
    const found = resolveState(workflow, one.state);
    return 'found' in found ? [found.found] : [];
  });
  // Each answer that a check has refused is followed by another one, which is judged again.
  const valid = 1 + failedChecks;
  // A judge between two reminders lets their number begin again.
  const answers =
    judges.length > 0 && failedChecks > 0 ? valid * (1 + reminders) : valid + reminders;
  const isFilled = unfilledNames(state, { metadata: {} }, NO_VALUES).length > 0;
  const filling = isFilled ? 1 + MOST_REMINDERS : 0;
  return [
    { state: state.name, count: answers + filling + handover },
    ...judges.map((judge) => ({ state: judge, count: valid * (1 + MOST_REMINDERS) })),
  ];
}

const NO_VALUES = { variables: {}, filled: undefined };

/** Whether Raymond takes the only transition whatever the agent writes, and nothing can prevent it. */
function isCertain(workflow: Workflow, { policy }: PromptState): boolean {
  const tag = policy.forceImplicit && implicitTag(policy, tagChoices(workflow.agents));
  if (!tag || tag.attributes.cd !== undefined) return false;
  if (tag.name === 'result' || tag.name === 'ask') return true;
  return (
    (tag.name === 'goto' || tag.name === 'reset') && 'found' in resolveState(workflow, tag.body)
  );
}

/** Whether a session that is left here may have to write what the next one must know. */
function handsOver(workflow: Workflow, state: State): boolean {
  const own = state.kind === 'prompt' ? state.policy.context : undefined;
  const isLimited = (own ?? workflow.about.context) !== undefined;
  return waysOf(workflow, state).some(
    ({ tag }) => tag === 'compact' || (isLimited && (tag === 'goto' || tag.startsWith('fork'))),
  );
}
