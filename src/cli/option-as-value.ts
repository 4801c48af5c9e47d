import type { Command, Option } from 'commander';
import { wrongUsage } from '../options/wrong-usage.ts';
import { COMMAND_LINE_OPTIONS } from '../world/config/option-table.ts';
import { commandOf, optionNamed } from './named-command.ts';

/**
 * The parser takes any word after `--input` as its value, even another option, so a forgotten value
 * would silently swallow the next option. Throws a UserError in that case.
 */
export function refuseOptionAsValue(raymond: Command, argv: readonly string[]): void {
  const command = commandOf(raymond, argv);
  for (let at = 0; at < argv.length && argv[at] !== '--'; at++) {
    const option = optionNamed(command, argv[at]);
    if (!option?.required) continue;
    const value = argv[at + 1];
    if (optionNamed(command, value?.split('=')[0]) && !holdsOptions(option))
      throw wrongUsage(
        `The option ${argv[at]} needs a value, but the option ${value} follows it.`,
        `Give a value. To give ${value} itself as the value: ${argv[at]}=${value}`,
      );
    at += 1;
  }
}

function holdsOptions({ long }: Option): boolean {
  return COMMAND_LINE_OPTIONS.some((row) => row.holdsOptions && `--${row.name}` === long);
}
