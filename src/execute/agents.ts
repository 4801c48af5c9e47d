import type { Agents } from '../model/agent.ts';
import { AGENT_CHOICE } from './agent-option.ts';
import { claudeAgent } from './claude/declaration.ts';

/** The declarations of all agents, without their executors, which most commands need not load. */
export const AGENTS: Agents = {
  all: [claudeAgent],
  usual: claudeAgent.name,
  choice: AGENT_CHOICE,
};
