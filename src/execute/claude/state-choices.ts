/** The choices for Claude Code in the front matter of a prompt. */
import type { FaultKind, StateChoice } from '../../model/agent.ts';
import { clip } from '../../parse/clip.ts';
import { nearest, suggestion } from '../../parse/nearest.ts';
import { EFFORTS, isModel, isWord, MODEL_PATTERN, MODELS, WORD_PATTERN } from './known-names.ts';
import { TOOL } from './tools.ts';

const MODEL_EXPECTED = `${MODELS.join(', ')} or a full claude-… id`;

export const MODEL_OF_STATE: StateChoice = {
  kind: 'word',
  meaning: 'opus, sonnet, haiku, or a full claude-… id.',
  expected: MODEL_EXPECTED,
  schema: { type: 'string', pattern: MODEL_PATTERN },
  fault: (model) => {
    if (isModel(model)) return undefined;
    const message = `There is no model "${clip(model)}".`;
    const details = suggestion(nearest(model, MODELS), `Write ${MODEL_EXPECTED}.`);
    return { severity: 'error', code: 'unknown-model', message, ...details };
  },
};

export const EFFORT_OF_STATE: StateChoice = {
  kind: 'word',
  meaning: 'How hard the model thinks.',
  expected: 'low, medium or high',
  schema: { type: 'string', pattern: WORD_PATTERN, examples: ['low', 'medium', 'high'] },
  fault: (effort) => {
    if (!isWord(effort)) return 'unexpected';
    if (EFFORTS.includes(effort)) return undefined;
    const message = `Raymond does not know the effort "${effort}".`;
    const otherwise = 'Raymond passes it on. Check that the agent knows it.';
    const details = suggestion(nearest(effort, EFFORTS), otherwise);
    return { severity: 'warning', code: 'unknown-effort', message, ...details };
  },
};

export const ALLOWED_IN_STATE = toolList(
  'Tools that the agent may use without asking in this state.',
);
export const DISALLOWED_IN_STATE = toolList('Tools that the agent must not use in this state.');

export const FAULTS = {
  'unknown-model': { severity: 'error', meaning: 'The model does not exist.' },
  'unknown-effort': { severity: 'warning', meaning: 'Raymond does not know the effort.' },
  'bad-permission-mode': {
    severity: 'error',
    meaning: 'A state sets a permission mode that only a person can choose.',
  },
} as const satisfies Readonly<Record<string, FaultKind>>;

/** `[Read, "Bash(git log:*)"]` */
function toolList(meaning: string): StateChoice {
  return {
    kind: 'list',
    meaning,
    expected: 'a list like [Read, "Bash(git log:*)"]',
    schema: { type: ['array', 'null'], items: { type: ['string', 'number', 'boolean'] } },
    item: { expected: 'a tool like Read or "Bash(git log:*)"', pattern: TOOL },
  };
}
