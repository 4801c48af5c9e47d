/** Declares what Claude Code can do, and which choices it offers. */
import type { AgentDeclaration } from '../../model/agent.ts';
import { combine, tightened, USUAL } from './choices.ts';
import { choose, factsOf, oneVoice, warningsOf, withoutHarm } from './said-choices.ts';
import {
  ALLOWED_IN_STATE,
  DISALLOWED_IN_STATE,
  EFFORT_OF_STATE,
  FAULTS,
  MODE_OF_STATE,
  MODEL_OF_STATE,
} from './state-choices.ts';

export const claudeAgent: AgentDeclaration = {
  name: 'claude',
  can: { branch: true, adopt: true, cost: true, permissions: true },
  choices: [
    { name: 'model', inState: MODEL_OF_STATE, inTags: true, isDrawn: true, isHarmless: true },
    { name: 'effort', inState: EFFORT_OF_STATE, inTags: true, isDrawn: true, isHarmless: true },
    { name: 'permissionMode', inState: MODE_OF_STATE },
    { name: 'skipPermissions' },
    { name: 'allowedTools', inState: ALLOWED_IN_STATE },
    { name: 'disallowedTools', inState: DISALLOWED_IN_STATE },
    { name: 'mcpConfig' },
    { name: 'agentSettings' },
    { name: 'addDir' },
    { name: 'appendSystemPrompt' },
    { name: 'agentArgs' },
  ],
  usual: USUAL,
  faults: FAULTS,
  combine,
  tightened,
  oneVoice,
  choose,
  withoutHarm,
  factsOf,
  warningsOf,
};
