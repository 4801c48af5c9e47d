import { claudeAgent } from '../execute/claude/declaration.ts';
import type { AgentDeclaration } from '../model/agent.ts';

/** Who takes prompts. Apart from what executes them, which most commands need not load. */
export const agent: AgentDeclaration = claudeAgent;
