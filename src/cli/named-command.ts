import type { Command } from 'commander';

/** The command that a command line names. A line that names none runs a workflow. */
export function commandOf(raymond: Command, [word]: readonly string[]): Command {
  const named = (wanted: string | undefined) =>
    raymond.commands.find((one) => one.name() === wanted || one.aliases().includes(wanted ?? ''));
  return named(word) ?? named('run') ?? raymond;
}
