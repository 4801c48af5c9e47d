import { AGENTS } from '../../src/execute/agents/agents.ts';
import { claudeAgent } from '../../src/execute/claude/declaration.ts';
import type { Agents } from '../../src/model/agent.ts';

/** All agents, one that cannot branch sessions and offers no lists of tools, and one without a cost. */
export const WITH_PLAIN: Agents = {
  ...AGENTS,
  all: [
    ...AGENTS.all,
    {
      ...claudeAgent,
      name: 'plain',
      can: { ...claudeAgent.can, branch: false, context: false },
      choices: claudeAgent.choices.filter(({ inState }) => inState?.kind !== 'list'),
    },
    { ...claudeAgent, name: 'unpriced', can: { ...claudeAgent.can, cost: 'none' } },
  ],
};
