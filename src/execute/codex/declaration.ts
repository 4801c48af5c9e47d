/** Declares what codex can do, and which choices it offers. */
import type { AgentDeclaration, ChoiceFault, StateChoice } from '../../model/agent.ts';
import { clip } from '../../parse/clip.ts';
import { combine, tightened } from './choices.ts';
import { CODEX_OPTIONS } from './options.ts';

const NAME = /^[A-Za-z0-9][\w./:@-]{0,199}$/;

function named(meaning: string, expected: string): StateChoice {
  const fault = (word: string): ChoiceFault | undefined =>
    NAME.test(word) ? undefined : 'unexpected';
  return {
    kind: 'word',
    meaning,
    expected,
    schema: { type: 'string', pattern: NAME.source },
    fault,
  };
}

const MODES: readonly string[] = ['plan', 'dontAsk', 'default', 'acceptEdits'];

const MODE: StateChoice = {
  kind: 'word',
  meaning: 'Limits what the agent may do. It cannot allow more than the run.',
  expected: `one of ${MODES.join(', ')}`,
  schema: { enum: MODES },
  fault: (mode) =>
    MODES.includes(mode)
      ? undefined
      : {
          severity: 'error',
          code: 'bad-permission-mode',
          message: `A state cannot have the permission_mode "${clip(mode)}".`,
          remedy: `Write one of ${MODES.join(', ')}.`,
        },
};

const OWN = { inTags: true, isOwn: true, isDrawn: true, isHarmless: true } as const;

export const codexAgent: AgentDeclaration = {
  name: 'codex',
  can: { branch: true, adopt: true, cost: 'tokens', budget: false, permissions: true, ask: false },
  choices: [
    { name: 'model', inState: named('A model of the provider.', 'the name of a model'), ...OWN },
    { name: 'effort', inState: named('How hard the model thinks.', 'low, medium or high'), ...OWN },
    { name: 'permissionMode', inState: MODE },
    { name: 'skipPermissions' },
    { name: 'codexPath', option: CODEX_OPTIONS.codexPath },
  ],
  faults: {},
  combine,
  tightened,
  refusal: ({ disallowedTools }) =>
    Array.isArray(disallowedTools) && disallowedTools.length > 0
      ? 'cannot follow --disallowed-tools'
      : undefined,
};
