/** The options of this command line: those of a run, and those of the agent that takes its prompts. */
import { CLAUDE_OPTIONS } from '../execute/claude/options.ts';
import type { OptionSpec } from '../model/option.ts';
import { optionTable } from '../options/chosen-options.ts';

const choices = Object.entries(CLAUDE_OPTIONS).map(([name, option]: [string, OptionSpec]) => ({
  name,
  option,
}));

export const OPTIONS = optionTable({ choices });

export const COMMAND_LINE_OPTIONS = OPTIONS.filter(({ only }) => only !== 'config');

export const CONFIG_OPTIONS = OPTIONS.flatMap((row) => ('inProject' in row ? [row] : []));
