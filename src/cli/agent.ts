import { claudeAgent } from '../execute/claude/declaration.ts';
import type { AgentDeclaration } from '../model/agent.ts';

/**
 * Reads the choices of a run. Every agent takes those that it offers from them, and all agents
 * understand permissions in the same way.
 */
export const agent: AgentDeclaration = claudeAgent;
