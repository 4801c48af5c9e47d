/** Declares what codex can do, and which choices it offers. */
import type { AgentDeclaration } from '../../model/agent.ts';
import { refusesTools, SHARED_CHOICES, sharedRules } from '../agents/agent-choices.ts';
import { CODEX_OPTIONS } from './options.ts';

export const codexAgent: AgentDeclaration = {
  name: 'codex',
  provider: 'openai',
  can: {
    branch: true,
    adopt: true,
    cost: 'tokens',
    context: true,
    budget: false,
    permissions: true,
    ask: false,
    travel: true,
    rights: true,
  },
  choices: [
    ...Object.values(SHARED_CHOICES),
    { name: 'codexPath', option: CODEX_OPTIONS.codexPath },
  ],
  // Codex loads them only in projects that the user has trusted in codex itself.
  projectSettings: { names: [], skips: [] },
  faults: {},
  ...sharedRules('codex'),
  refusal: refusesTools,
};
