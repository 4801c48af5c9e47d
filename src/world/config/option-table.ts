/** The options of this command line: those of a run, and those of the agents that take its prompts. */
import { AGENT_CHOICE, AGENTS } from '../../execute/agents/agents.ts';
import { optionTable } from '../../options/chosen-options.ts';

const ofAgents = AGENTS.all.flatMap(({ choices }) => choices);

export const OPTIONS = optionTable({ choices: [AGENT_CHOICE, ...ofAgents] });

export const COMMAND_LINE_OPTIONS = OPTIONS.filter(({ only }) => only !== 'config');

export const CONFIG_OPTIONS = OPTIONS.flatMap((row) => ('inProject' in row ? [row] : []));
