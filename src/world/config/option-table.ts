/** The options of this command line: those of a run, and those of the agents that take its prompts. */
import { AGENT_CHOICE } from '../../execute/agents/agent-option.ts';
import { CLAUDE_OPTIONS } from '../../execute/claude/options.ts';
import { CODEX_OPTIONS } from '../../execute/codex/options.ts';
import type { OptionSpec } from '../../model/option.ts';
import { optionTable } from '../../options/chosen-options.ts';

/** The declarations have the same options. They also load schemas, which the help does not need. */
const ofAgents = Object.entries({ ...CLAUDE_OPTIONS, ...CODEX_OPTIONS }).map(
  ([name, option]: [string, OptionSpec]) => ({ name, option }),
);

export const OPTIONS = optionTable({ choices: [AGENT_CHOICE, ...ofAgents] });

export const COMMAND_LINE_OPTIONS = OPTIONS.filter(({ only }) => only !== 'config');

export const CONFIG_OPTIONS = OPTIONS.flatMap((row) => ('inProject' in row ? [row] : []));
