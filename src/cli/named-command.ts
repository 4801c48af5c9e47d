import type { Command, Option } from 'commander';

/** The command that a command line names. A line that names none runs a workflow. */
export function commandOf(raymond: Command, [word]: readonly string[]): Command {
  const { commands } = raymond;
  return commands.find(isNamed(word)) ?? commands.find(isNamed('run')) ?? raymond;
}

export function isNamed(word: string | undefined): (command: Command) => boolean {
  return (command) =>
    word !== undefined && (command.name() === word || command.aliases().includes(word));
}

export function optionNamed({ options }: Command, word: string | undefined): Option | undefined {
  return options.find(({ long, short }) => word !== undefined && (word === long || word === short));
}
