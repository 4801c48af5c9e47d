import type { Command } from 'commander';
import { TRANSITION_TAGS } from '../../model/tag.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { COMMAND_LINE_OPTIONS } from '../option-table.ts';
import type { Here } from '../surroundings.ts';
import { stdout } from '../terminal.ts';
import { TEMPLATES } from './init.ts';

/** Prints the script with which a shell asks Raymond for completions. */
export async function completion(shell: string): Promise<number> {
  const script = SCRIPTS.get(shell);
  if (script === undefined)
    throw wrongUsage(
      `There is no completion script for "${shell}".`,
      `Name one of ${[...SCRIPTS.keys()].join(', ')}.`,
    );
  await stdout.document(script);
  return 0;
}

/** Prints the completions of the last word, one on each line. If there are none, the shell offers files. */
export async function complete(
  here: Here,
  program: Command,
  words: readonly string[],
): Promise<number> {
  const current = words.at(-1) ?? '';
  const found = (await candidates(here, program, words.slice(0, -1), current)).filter((word) =>
    word.startsWith(current),
  );
  await stdout.document(found.map((word) => `${word}\n`).join(''));
  return 0;
}

async function candidates(
  here: Here,
  program: Command,
  before: readonly string[],
  current: string,
): Promise<readonly string[]> {
  const [name, ...given] = before;
  const visible = program.createHelp().visibleCommands(program);
  const named = visible.find((command) => command.name() === name || command.alias() === name);
  const command = named ?? visible.find((one) => one.name() === 'run') ?? program;
  const previous = before.at(-1);
  const option = command.options.find((one) => one.long === previous || one.short === previous);
  if (option?.required) return optionValues(here, option.long ?? '');
  if (current.startsWith('-')) {
    const own = command.options.flatMap(({ long }) => long ?? []);
    return name === undefined ? [...own, '--help', '--version'] : [...own, '--help'];
  }
  if (name === undefined) return visible.map((one) => one.name());
  return named ? argumentValues(here, named.name(), given) : [];
}

const RUN_COMMANDS = new Set(['resume', 'show', 'logs', 'stop', 'answer', 'prune']);

async function argumentValues(
  here: Here,
  command: string,
  given: readonly string[],
): Promise<readonly string[]> {
  const isFirst = given.every((word) => word.startsWith('-'));
  if (command === 'prune' || (isFirst && RUN_COMMANDS.has(command))) return runIds(here);
  if (isFirst && command === 'init') return [...TEMPLATES.keys()];
  if (isFirst && command === 'tag') return TRANSITION_TAGS;
  if (isFirst && command === 'completion') return [...SCRIPTS.keys()];
  return [];
}

async function optionValues(here: Here, option: string): Promise<readonly string[]> {
  if (option === '--record') return runIds(here);
  return COMMAND_LINE_OPTIONS.find(({ name }) => `--${name}` === option)?.known ?? [];
}

async function runIds(here: Here): Promise<readonly string[]> {
  return (await here()).store.list();
}

// Each line is one word, and the script never evaluates it. Bash inserts words without quotes, and the
// Enter key would evaluate them, so the script quotes them. zsh (compadd) and fish quote words themselves.
const BASH = `# Completion for raymond. Add this to ~/.bashrc:  eval "$(raymond completion bash)"
_raymond() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do
    printf -v word %q "$word"
    COMPREPLY+=("$word")
  done < <(raymond __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _raymond raymond
`;

const ZSH = `#compdef raymond
# Completion for raymond. Add this to ~/.zshrc, below compinit:  eval "$(raymond completion zsh)"
_raymond() {
  local -a found
  found=("\${(@f)$(raymond __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then
    compadd -- "\${found[@]}"
  else
    _files
  fi
}
compdef _raymond raymond
`;

const FISH = `# Completion for raymond. Add this to ~/.config/fish/config.fish:  raymond completion fish | source
function __raymond_complete
    set -l words (commandline -opc) (commandline -ct)
    raymond __complete -- $words[2..-1] 2>/dev/null
end
complete -c raymond -a '(__raymond_complete)'
`;

const SCRIPTS: ReadonlyMap<string, string> = new Map([
  ['bash', BASH],
  ['zsh', ZSH],
  ['fish', FISH],
]);
