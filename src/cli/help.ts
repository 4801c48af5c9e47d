/** The form of the help: commands by task, examples, and no line wider than the screen. */
import { type Command, Help, type HelpConfiguration } from 'commander';

export const HELP: HelpConfiguration = {
  // Their own help has the arguments.
  subcommandTerm: (command) => command.name(),
  formatItem,
  formatHelp(command, helper) {
    const sections = [
      Help.prototype.formatHelp.call(helper, command, helper).trimEnd(),
      ...(command.parent ? [] : [oftenUsed(command, helper)]),
      ...section(
        'Examples:',
        (EXAMPLES[command.name()] ?? []).map((line) => `  $ ${line}`),
      ),
    ];
    return `${sections.join('\n\n')}\n`;
  },
};

/** Long terms have a line of their own if little room would be left beside them. */
function formatItem(term: string, width: number, description: string, helper: Help): string {
  const columns = helper.helpWidth ?? 80;
  const isNarrow = columns - width - GAPS < LEAST_ROOM;
  const indent = isNarrow ? 6 : width + GAPS;
  const lines = wrapped(description, columns - indent);
  const rest = lines.join(`\n${' '.repeat(indent)}`);
  return isNarrow ? `  ${term}\n${' '.repeat(indent)}${rest}` : `  ${term.padEnd(width)}  ${rest}`;
}

/** Before and after a term. */
const GAPS = 4;
const LEAST_ROOM = 36;

function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** The options of `run` that a newcomer needs. `run` is the command of a line without one. */
function oftenUsed(raymond: Command, helper: Help): string {
  const run = raymond.commands.find((command) => command.name() === 'run');
  const options = (run?.options ?? []).filter(({ long = '' }) => OFTEN_USED.includes(long ?? ''));
  const terms = options.map((option) => helper.optionTerm(option));
  const width = Math.max(...terms.map((term) => term.length));
  const items = options.map((option, i) =>
    formatItem(terms[i] ?? '', width, option.description, helper),
  );
  return section('Options of run (all of them: raymond run --help):', items).join('\n');
}

const OFTEN_USED = ['--init-config', '--budget', '--input', '--model', '--detach', '--rehearse'];

const section = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? [] : [[title, ...lines].join('\n')];

/** At most 56 characters each. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  raymond: [
    'raymond init               create a first workflow',
    'raymond flow --rehearse    play it without a model',
    'raymond flow --budget 5    run it for up to 5 dollars',
    'raymond list               see what came of it',
  ],
  run: [
    'raymond run flow --input "Add a dark mode" --budget 5',
    'raymond run flow --set issue=195 --detach',
    'raymond run flow --rehearse',
    'raymond --init-config',
  ],
  resume: ['raymond resume', 'raymond resume flow-1a2b --budget 20', 'raymond resume --all'],
  stop: ['raymond stop flow-1a2b', 'raymond stop flow-1a2b --now'],
  rewind: ['raymond rewind flow-1a2b --to main:3', 'raymond rewind flow-1a2b --undo'],
  try: [
    'raymond try flow-1a2b --at main:3 --with REVIEW.md',
    'raymond try flow-1a2b --at 3 --model opus --times 5',
    'raymond try flow-1a2b',
  ],
  eval: [
    'raymond eval flow --times 5 --budget 20',
    'raymond eval flow --add-case flow-1a2b',
    'raymond eval flow --junit report.xml',
  ],
  list: ['raymond list', 'raymond list --status failed,waiting -n 10', 'raymond list --workflows'],
  show: [
    'raymond show',
    'raymond show flow-1a2b --steps',
    'raymond show flow-1a2b main:4 --follow',
  ],
  logs: ['raymond logs --follow', 'raymond logs flow-1a2b --agent main --verbose'],
  diff: ['raymond diff --stat', 'raymond diff flow-1a2b main:4'],
  watch: ['raymond watch', 'raymond watch flow-1a2b --plain'],
  answer: [
    'raymond answer flow-1a2b "Take the second way"',
    'raymond answer flow-1a2b allow',
    'raymond answer flow-1a2b deny "Use the test database"',
  ],
  inbox: ['raymond inbox', 'raymond inbox --json'],
  init: ['raymond init', 'raymond init --list'],
  lint: ['raymond lint flow', 'raymond lint flow --level error'],
  check: ['raymond check flow', 'raymond check flow --json'],
  bound: ['raymond bound flow', 'raymond bound flow --turn 0.50'],
  lsp: ['raymond lsp --stdio'],
  acp: ['raymond acp', 'raymond acp flow'],
  skill: ['raymond skill flow', 'raymond skill flow --out .claude/skills'],
  test: ['raymond test flow --coverage', 'raymond test flow --record flow-1a2b'],
  diagram: ['raymond diagram flow', 'raymond diagram flow --html > flow.html'],
  add: [
    'raymond add https://example.org/review.zip',
    'raymond add https://example.org/flows.git//review@v1',
  ],
  update: ['raymond update', 'raymond update flows/review --check'],
  convert: ['raymond convert flow flow.yaml', 'raymond convert flow.zip flow'],
  tag: ['raymond tag goto NEXT', 'raymond tag fork WORK --attr item="$file"'],
  serve: ['raymond serve', 'raymond serve --port 0 --json'],
  up: ['raymond up', 'raymond up --listen 127.0.0.1:8788', 'raymond up ~/one ~/two --install'],
  triggers: ['raymond triggers', 'raymond triggers --occasions 20'],
  worker: ['raymond worker --database postgres://db/raymond'],
  mcp: ['raymond mcp --budget 5'],
  prune: ['raymond prune --dry-run', 'raymond prune --older-than 30d --yes'],
  doctor: ['raymond doctor'],
  config: ['raymond config', 'raymond config --json'],
  trust: ['raymond trust', 'raymond trust --lessons flow-1a2b', 'raymond trust --proposals'],
  say: ['raymond say feature-1a2b3c4d "use the old API"'],
  secret: ['raymond secret set GH_TOKEN', 'raymond secret list'],
  completion: ['raymond completion bash >> ~/.bashrc'],
  version: ['raymond version'],
};
