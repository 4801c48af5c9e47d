import type { Command, CommanderError } from 'commander';
import { counted } from '../model/counted.ts';
import { UserError } from '../model/user-error.ts';
import { oneLine } from '../observe/words.ts';

/** The option parser's error in the form of all other errors: a fact and a remedy. */
export function usageError(
  raymond: Command,
  [word = '']: readonly string[],
  { code, message }: CommanderError,
): UserError {
  // The message contains words of the command line, which may span lines. The hint is the last line.
  const [, text = message, hint] =
    /^error: (.*?)(?:\n\((Did you mean [^\n]*\?)\))?$/s.exec(message) ?? [];
  const isCommand = raymond.commands.some((one) => namesOf(one).includes(word));
  const command = isCommand ? word : 'run';
  const help = `See: raymond ${command} --help`;
  if (code === 'commander.excessArguments') {
    const { args = [], registeredArguments = [] } =
      raymond.commands.find((one) => namesOf(one).includes(command)) ?? {};
    const takes = registeredArguments.length;
    const surplus = args.slice(takes);
    const omit = surplus.length === 1 ? 'Omit it' : 'Omit them';
    const quoted = JSON.stringify(surplus.join(' '));
    const cure =
      takes === 0
        ? omit
        : command === 'run'
          ? `To give it to the workflow: --input ${quoted}. Put quotes around a value with spaces`
          : `${omit}, or put quotes around a value with spaces`;
    return new UserError('usage', surplusText(command, takes, surplus), `${cure}. ${help}`);
  }
  return new UserError('usage', factOf(command, code, text), hint ?? help);
}

const namesOf = (command: Command) => [command.name(), ...command.aliases()];

/** `The command show takes 1 argument, but "b" and "c" follow.` */
function surplusText(command: string, takes: number, surplus: readonly string[]): string {
  const words = surplus.map((word) => `"${oneLine(word, 60)}"`);
  const named = words.length > 3 ? [...words.slice(0, 2), `${words.length - 2} more`] : words;
  const list = [named.slice(0, -1).join(', '), named.at(-1)].filter((part) => part).join(' and ');
  const most = takes === 0 ? 'no argument' : counted(takes, 'argument');
  return `The command ${command} takes ${most}, but ${list} ${words.length === 1 ? 'follows' : 'follow'}.`;
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
    default:
      return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;
  }
}
