import type { Command } from 'commander';

/** The command that a command line names. A line that names none runs a workflow. */
export function commandOf(raymond: Command, [word]: readonly string[]): Command {
  const { commands } = raymond;
  return commands.find(isNamed(word)) ?? commands.find(isNamed('run')) ?? raymond;
}

export function isNamed(word: string | undefined): (command: Command) => boolean {
  return (command) =>
    word !== undefined && (command.name() === word || command.aliases().includes(word));
}
