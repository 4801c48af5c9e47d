import type { RunOptions } from '../options/run-options.ts';
import { agent } from './agent.ts';

/** Brings the choices of one source into one form. `source` names it in errors. */
export function withNormalChoices<T extends RunOptions>(options: T, source: string): T {
  return options.agent ? { ...options, agent: agent.normalize(options.agent, source) } : options;
}
