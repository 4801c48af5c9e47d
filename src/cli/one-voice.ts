import type { RunOptions } from '../options/run-options.ts';
import { agent } from './agent.ts';

/** Brings the choices of one source into one form. `who` names the source in errors. */
export function inOneVoice<T extends RunOptions>(options: T, who: string): T {
  return options.agent ? { ...options, agent: agent.oneVoice(options.agent, who) } : options;
}
