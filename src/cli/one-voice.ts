import type { RunOptions } from '../options/run-options.ts';
import { agent } from './agent.ts';

/** What one person or file says of the agent, in one form: who says a part of it may have said all of it. */
export function inOneVoice<T extends RunOptions>(options: T, who: string): T {
  return options.agent ? { ...options, agent: agent.oneVoice(options.agent, who) } : options;
}
