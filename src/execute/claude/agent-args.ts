/**
 * Further options for Claude Code, as the user wrote them. Raymond passes on only options that it
 * knows: which values they take, and that they do not affect how it controls the agent. Any other
 * option could end a session, ask a question, or be read as a prompt.
 */
import { resolve } from 'node:path';
import { wrongUsage } from '../../model/user-error.ts';
import { splitWords } from '../../parse/split-words.ts';

/** Reads and checks the arguments in a text. Relative paths start at `folder`. */
export function readAgentArgs(text: string, folder: string): readonly string[] {
  const args: string[] = [];
  const words = [...(splitWords(text) ?? unfinished(text))];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const equals = word.startsWith('--') ? word.indexOf('=') : -1;
    const name = equals < 0 ? word : word.slice(0, equals);
    const takes = valueKindOf(name);
    const given = equals < 0 ? valuesBefore(words, takes) : [word.slice(equals + 1)];
    if (takes === 'nothing' && given.length > 0)
      throw wrongUsage(
        `The agent's option ${name} takes no value.`,
        `Write ${name} without a value.`,
      );
    if (takes !== 'nothing' && given.length === 0)
      throw wrongUsage(`The agent's option ${name} has no value.`, `Write it as ${name}=value.`);
    const values = takes === 'a path' ? given.map((value) => resolve(folder, value)) : given;
    // In one word with its option, no value can be read as an option.
    args.push(...(takes === 'nothing' ? [name] : values.map((value) => `${name}=${value}`)));
  }
  return args;
}

type ValueKind = 'nothing' | 'a value' | 'values' | 'a path';

const PASSED_ON: ReadonlyMap<string, ValueKind> = new Map([
  ['--agent', 'a value'],
  ['--agents', 'a value'],
  ['--autocompact', 'a value'],
  ['--betas', 'values'],
  ['--chrome', 'nothing'],
  ['--debug-file', 'a path'],
  ['--disable-slash-commands', 'nothing'],
  ['--exclude-dynamic-system-prompt-sections', 'nothing'],
  ['--fallback-model', 'a value'],
  ['--file', 'values'],
  ['--no-chrome', 'nothing'],
  ['--plugin-dir', 'a path'],
  ['--plugin-url', 'a value'],
  ['--setting-sources', 'a value'],
  ['--strict-mcp-config', 'nothing'],
  ['--system-prompt', 'a value'],
  ['--system-prompt-file', 'a path'],
  ['--tools', 'values'],
]);

const SESSIONS = 'Leave it out. Tags choose the session; "raymond resume" continues a run';
const OUTPUT = "Leave it out. To see the agent's output, use Raymond's --verbose or --json";
const itself = (name: string) => `Give ${name} to Raymond itself`;

/** The options that Raymond sets itself, and the remedy for each. */
const ROWS: readonly (readonly [names: string, remedy: (name: string) => string])[] = [
  ['-p --print --output-format --input-format --verbose', () => OUTPUT],
  ['--include-partial-messages --replay-user-messages', () => OUTPUT],
  ['--session-id --resume -r --continue -c --fork-session', () => SESSIONS],
  ['--resume-session-at --no-session-persistence --from-pr', () => SESSIONS],
  ['--permission-mode --permission-prompt-tool', () => itself('--permission-mode')],
  ['--permission-prompts', () => itself('--permission-mode')],
  ['--dangerously-skip-permissions', itself],
  ['--allow-dangerously-skip-permissions', () => itself('--dangerously-skip-permissions')],
  ['--max-budget-usd', () => itself('--budget')],
  ['--model --effort --settings --mcp-config --add-dir --append-system-prompt', itself],
  ['--allowed-tools --disallowed-tools', itself],
  ['--allowedTools', () => itself('--allowed-tools')],
  ['--disallowedTools', () => itself('--disallowed-tools')],
];

const INSTEAD: ReadonlyMap<string, string> = new Map(
  ROWS.flatMap(([names, remedy]) => names.split(' ').map((name) => [name, remedy(name)])),
);

function valueKindOf(name: string): ValueKind {
  const takes = PASSED_ON.get(name);
  if (takes !== undefined) return takes;
  const instead = INSTEAD.get(name);
  if (instead !== undefined)
    throw wrongUsage(`--agent-args contains ${name}, which Raymond sets itself.`, `${instead}.`);
  if (!name.startsWith('-'))
    throw wrongUsage(
      `--agent-args contains "${name}", which the agent would read as a prompt.`,
      'Write prompts in the workflow. Put a value with spaces in quotes.',
    );
  throw wrongUsage(
    `--agent-args contains ${name}, which Raymond does not pass on.`,
    `Use only these options: ${[...PASSED_ON.keys()].join(', ')}.`,
  );
}

/** Removes the values of an option from the words that follow it, and returns them. */
function valuesBefore(words: string[], takes: ValueKind): readonly string[] {
  if (takes === 'nothing') return [];
  const end = words.findIndex((word) => word.startsWith('-'));
  const most = end < 0 ? words.length : end;
  return words.splice(0, takes === 'values' ? most : Math.min(most, 1));
}

function unfinished(text: string): never {
  throw wrongUsage(
    `--agent-args ends inside a quote or after a backslash: ${text}`,
    'Close the quote, or remove the backslash.',
  );
}
