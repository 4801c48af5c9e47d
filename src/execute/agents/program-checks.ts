/** Checks whether the program of an agent can be used on this machine, without a request to a model. */
import { shellWord } from '../../model/shell-word.ts';
import type { Executable } from './find-program.ts';

/** The result of one check. A problem must be fixed before a workflow can run. */
export interface Check {
  readonly name: string;
  readonly verdict: 'ok' | 'warning' | 'problem';
  readonly fact: string;
  readonly remedy?: string;
}

/** Whether the user is logged in to the service of the agent. */
export type Login = 'yes' | 'no' | 'unknown';

export function missingProgram(
  name: string,
  { problem, remedy }: Extract<Executable, { found: false }>,
): Check {
  return { name, verdict: 'problem', fact: problem, remedy };
}

/** Undefined when the text has none. */
export const versionIn = (text: string): string | undefined => /\d+\.\d+\.\d+/.exec(text)?.[0];

export function withoutVersion(name: string, path: string, ofTitle = '', more = ''): Check {
  const fact = `${path} does not report a version${ofTitle}.`;
  const remedy = `Check its output: ${shellWord(path)} --version${more}`;
  return { name, verdict: 'problem', fact, remedy };
}
