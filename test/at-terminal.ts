import { onTestFinished } from 'vitest';
import { openTerminal, type Terminal, type TerminalOptions } from './open-terminal.ts';
import type { Project } from './raymond.ts';

/** A terminal that is closed at the end of the test. */
export function atTerminal(
  project: Project,
  args: readonly string[],
  options: TerminalOptions = {},
): Terminal {
  const { close, ...terminal } = openTerminal(project, args, options);
  onTestFinished(close);
  return terminal;
}
