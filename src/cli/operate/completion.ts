import type { Command } from 'commander';
import { wrongUsage } from '../../options/wrong-usage.ts';
import type { Here } from '../../world/surroundings.ts';
import { stdout } from '../terminal/terminal.ts';
import { candidates } from './completion-candidates.ts';
import { COMPLETION_SCRIPTS } from './completion-scripts.ts';

/** Prints the script that lets a shell ask Raymond for completions. */
export async function completion(shell: string): Promise<number> {
  const script = COMPLETION_SCRIPTS.get(shell);
  if (script === undefined)
    throw wrongUsage(
      `There is no completion script for "${shell}".`,
      `Name one of ${[...COMPLETION_SCRIPTS.keys()].join(', ')}.`,
    );
  await stdout.document(script);
  return 0;
}

/**
 * Prints the completions of the last word, one on each line, with a tab and a description. If there
 * are none, the shell offers files.
 */
export async function complete(
  here: Here,
  program: Command,
  words: readonly string[],
): Promise<number> {
  const found = await candidates(here, program, words);
  const lines = found.map(({ value, about = '' }) => `${value}\t${about}\n`);
  await stdout.document(lines.join(''));
  return 0;
}
