import type { Agents } from '../model/agent.ts';
import { AGENT_CHOICE } from './agent-option.ts';
import { DEFAULTS } from './claude/choices.ts';
import { claudeAgent } from './claude/declaration.ts';
import { codexAgent } from './codex/declaration.ts';

/** The declarations of all agents, without their executors, which most commands need not load. */
export const AGENTS: Agents = {
  all: [claudeAgent, codexAgent],
  usual: claudeAgent.name,
  choice: AGENT_CHOICE,
  defaults: DEFAULTS,
};
