/** Declares what Claude Code can do, and which choices it offers. */
import type { AgentChoice, AgentDeclaration, RunChoiceRules } from '../../model/agent.ts';
import { MODE_OF_STATE, OWN } from '../agents/agent-choices.ts';
import { combine, ignoredChoices, tightened } from './choices.ts';
import { CLAUDE_SETTINGS } from './folder-trust.ts';
import { CLAUDE_OPTIONS } from './options.ts';
import {
  alarmsOf,
  choose,
  keepHarmless,
  normalize,
  summarize,
  TOGETHER,
  warningsOf,
} from './run-choices.ts';
import {
  ALLOWED_IN_STATE,
  DISALLOWED_IN_STATE,
  EFFORT_OF_STATE,
  FAULTS,
  MODEL_OF_STATE,
} from './state-choices.ts';

export const claudeAgent: AgentDeclaration = {
  name: 'claude',
  provider: 'anthropic',
  can: {
    branch: true,
    adopt: true,
    cost: 'usd',
    context: true,
    budget: true,
    permissions: true,
    ask: true,
    hear: true,
    travel: true,
    rights: true,
  },
  choices: [
    choice('model', { inState: MODEL_OF_STATE, inLanes: true, ...OWN }),
    choice('effort', { inState: EFFORT_OF_STATE, ...OWN }),
    choice('permissionMode', { inState: MODE_OF_STATE }),
    choice('skipPermissions'),
    choice('allowedTools', { inState: ALLOWED_IN_STATE }),
    choice('disallowedTools', { inState: DISALLOWED_IN_STATE }),
    choice('mcpConfig'),
    choice('agentSettings'),
    choice('addDir'),
    choice('appendSystemPrompt'),
    choice('agentArgs'),
    choice('claudePath'),
  ],
  projectSettings: CLAUDE_SETTINGS,
  fills: 'model',
  faults: FAULTS,
  combine,
  tightened,
  ignored: ignoredChoices,
};

/** All agents understand the choices of a run as Claude Code does. */
export const runChoices: RunChoiceRules = {
  normalize,
  together: TOGETHER,
  choose,
  keepHarmless,
  summarize,
  warningsOf,
  alarmsOf,
};

function choice(
  name: keyof typeof CLAUDE_OPTIONS,
  more: Omit<AgentChoice, 'name' | 'option'> = {},
): AgentChoice {
  return { name, option: CLAUDE_OPTIONS[name], ...more };
}
