import { CommanderError } from 'commander';
import { mistakenCommand } from './mistaken-command.ts';
import { program } from './program.ts';
import { reportError } from './report-error.ts';
import type { Outside } from './surroundings.ts';
import { keepTheDoor } from './terminal.ts';
import { usageError } from './usage-error.ts';

/** `outside` is for tests: the parts that they replace. */
export async function main(argv: readonly string[], outside: Outside = {}): Promise<void> {
  keepTheDoor(reportError);
  const here = async () => (await import('./surroundings.ts')).surroundings(outside);
  const raymond = program(here, async (command) => {
    process.exitCode = await command;
  });
  try {
    await raymond.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    // Help and version end with an "error" that has the exit code 0.
    if (error instanceof CommanderError && error.exitCode === 0) return;
    const cause = mistakenCommand(raymond, argv, error);
    process.exitCode = reportError(
      cause instanceof CommanderError ? usageError(raymond, argv, cause) : cause,
    );
  }
}
