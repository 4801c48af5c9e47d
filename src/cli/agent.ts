import { claudeAgent } from '../execute/claude/declaration.ts';
import type { AgentDeclaration } from '../model/agent.ts';

/** The agent that takes prompts. Separate from its executor, which most commands need not load. */
export const agent: AgentDeclaration = claudeAgent;
