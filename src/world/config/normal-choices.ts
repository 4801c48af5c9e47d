import { UserError } from '../../model/user-error.ts';
import type { RunOptions } from '../../options/run-options.ts';
import { agent } from '../agent.ts';

/** Brings the choices of one source into one form. `source` names it in errors. */
export function withNormalChoices<T extends RunOptions>(options: T, source: string): T {
  return options.agent ? { ...options, agent: agent.normalize(options.agent, source) } : options;
}

export interface FileChoices {
  readonly options: RunOptions;
  /** Present if choices of the file contradict each other. Then they are left out. */
  readonly contradiction?: UserError;
}

/** The same for a file. The command line may resolve contradictions in it. */
export function fileChoices(options: RunOptions, source: string): FileChoices {
  try {
    return { options: withNormalChoices(options, source) };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const others = Object.entries(options.agent ?? {}).filter(([name]) => !isTogether(name));
    return {
      options: { ...options, agent: Object.fromEntries(others) },
      contradiction: error,
    };
  }
}

/** Throws the contradiction of a file, unless the command line decides. */
export function refuseContradictions(files: readonly FileChoices[], given: RunOptions): void {
  if (Object.keys(given.agent ?? {}).some(isTogether)) return;
  for (const { contradiction } of files) if (contradiction) throw contradiction;
}

const isTogether = (name: string) => agent.together.includes(name);
