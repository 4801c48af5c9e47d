import type { PromptState, ScriptState } from '../model/workflow.ts';
import { readTransition } from '../parse/transition.ts';
import { type Mention, mentionsOf } from './mentions.ts';
import { once } from './once.ts';

export type Shown = Extract<Mention, { kind: 'tag' }>;

/** The well-formed tags of a text; what is wrong with the others is lint's to say. */
export const shownTags = once((state: PromptState | ScriptState): readonly Shown[] =>
  mentionsOf(state).filter(
    (mention): mention is Shown => mention.kind === 'tag' && readTransition(mention.tag).ok,
  ),
);
