import type { AgentDeclaration } from '../model/agent.ts';
import type { PromptState, ScriptState, Workflow } from '../model/workflow.ts';
import { tagChoices } from '../parse/agent-choices.ts';
import { readTransition } from '../parse/transition.ts';
import { type Mention, mentionsOf } from './mentions.ts';
import { once } from './once.ts';

export type Shown = Extract<Mention, { kind: 'tag' }>;

/** The well-formed tags of a text. Lint reports the others. */
export function shownTags(
  { agent }: Pick<Workflow, 'agent'>,
  state: PromptState | ScriptState,
): readonly Shown[] {
  return shownTo(agent)(state);
}

const shownTo = once((agent: AgentDeclaration) => {
  const choices = tagChoices(agent);
  return once((state: PromptState | ScriptState) =>
    mentionsOf(state).filter(
      (mention): mention is Shown =>
        mention.kind === 'tag' && readTransition(mention.tag, choices).ok,
    ),
  );
});
