import type { Command, CommanderError } from 'commander';
import { counted } from '../model/counted.ts';
import { UserError } from '../model/user-error.ts';

/** The option parser's error in the form of all other errors: a fact and a remedy. */
export function usageError(
  raymond: Command,
  [word = '']: readonly string[],
  { code, message }: CommanderError,
): UserError {
  // The message contains words of the command line, which may span lines. The hint is the last line.
  const [, text = message, hint] =
    /^error: (.*?)(?:\n\((Did you mean [^\n]*\?)\))?$/s.exec(message) ?? [];
  const isCommand = raymond.commands.some((one) => [one.name(), ...one.aliases()].includes(word));
  const command = isCommand ? word : 'run';
  const help = `See: raymond ${command} --help`;
  return new UserError('usage', factOf(command, code, text), hint ?? help);
}

function factOf(command: string, code: string, text: string): string {
  const [, quoted = ''] = /'(.*)'/s.exec(text) ?? [];
  switch (code) {
    case 'commander.missingArgument':
      return `The command ${command} needs the argument <${quoted}>.`;
    case 'commander.optionMissingArgument':
      return `The option ${quoted} needs a value.`;
    case 'commander.unknownOption':
      // Without its value, which may be a secret.
      return `The command ${command} has no option ${quoted.replace(/=.*/s, '')}.`;
    case 'commander.excessArguments': {
      const [, most = 0, given = 0] = /Expected (\d+) arguments? but got (\d+)/.exec(text) ?? [];
      return `The command ${command} takes ${counted(Number(most), 'argument')}, but got ${given}.`;
    }
    default:
      return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;
  }
}
