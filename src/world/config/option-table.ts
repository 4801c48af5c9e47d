/** The options of this command line: those of a run, and those of the agents that take its prompts. */
import { AGENT_CHOICES } from '../../execute/agents/agent-option.ts';
import { optionTable } from '../../options/chosen-options.ts';

export const OPTIONS = optionTable({ choices: AGENT_CHOICES });

export const COMMAND_LINE_OPTIONS = OPTIONS.filter(({ only }) => only !== 'config');

export const CONFIG_OPTIONS = OPTIONS.flatMap((row) => ('inProject' in row ? [row] : []));
