/** The command line: which commands there are, and what becomes of trouble. */
import { Command, CommanderError, Option } from 'commander';
import { UnusableFile } from '../files/regular-file.ts';
import { cureOf, reasonOf } from '../journal/disk-errors.ts';
import type { OptionSpec } from '../model/option.ts';
import { UserError } from '../model/user-error.ts';
import { fromValues } from '../options/chosen-options.ts';
import { camelCase } from '../options/option-names.ts';
import { readOption } from '../options/option-values.ts';
import { mistakenCommand } from './mistaken-command.ts';
import { COMMAND_LINE_OPTIONS } from './option-table.ts';
import type { Here, Outside } from './surroundings.ts';
import { keepTheDoor, stderr, stdout } from './terminal.ts';
import { RAYMOND_VERSION } from './version.ts';

/** `outside` is for tests: what they put in the place of the usual. */
export async function main(argv: readonly string[], outside: Outside = {}): Promise<void> {
  keepTheDoor(report);
  const raymond = program(async () => (await import('./surroundings.ts')).surroundings(outside));
  try {
    await raymond.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    process.exitCode = report(mistakenCommand(raymond, argv, error));
  }
}

const USAGE = 64;

function program(here: Here): Command {
  const raymond = new Command('raymond')
    .description(
      'Runs workflows for coding agents: folders of prompts and scripts, as state machines.',
    )
    .version(RAYMOND_VERSION)
    .configureOutput({
      writeOut: stdout.document,
      writeErr: stderr.document,
      // Reported below, with all other trouble.
      outputError: () => {},
    })
    .exitOverride()
    .enablePositionalOptions();

  const run = raymond
    .command('run [workflow]', { isDefault: true })
    .alias('start')
    .description(
      'run a workflow: a folder, a state file, a .zip or a .yaml (also: raymond <workflow>)',
    )
    .option('--init-config', 'write .raymond/config.toml with every option commented out')
    .action(async (workflow: string | undefined, options) => {
      if (options.initConfig)
        return finish((await import('./commands/config.ts')).initConfig(here));
      const { run } = await import('./commands/run.ts');
      await finish(run(here, workflow, withAgentApart(options)));
    });
  addRunOptions(run);

  const resume = raymond
    .command('resume [run]')
    .description('go on with a run')
    .option('--all', 'go on with every run that can')
    .option('--salvage', 'keep the readable part of a damaged journal')
    .option('--fresh', 'begin the states of failed agents in new sessions')
    .option('--trust-run', 'go on with a run that you did not start here')
    .option('--accept-changes', 'use files of the workflow that were changed meanwhile')
    .action(async (name: string | undefined, options) => {
      await finish(
        (await import('./commands/resume.ts')).resume(here, name, withAgentApart(options)),
      );
    });
  addRunOptions(resume, 'resume');

  raymond
    .command('list')
    .description('list the runs of this project')
    .option('--json', 'one JSON object per run')
    .action(async (options) => finish((await import('./commands/list.ts')).list(here, options)));
  raymond
    .command('show <run>')
    .description('show agents, stacks, cost and history of a run')
    .option('--json', 'the state as JSON')
    .action(async (name, options) =>
      finish((await import('./commands/show.ts')).show(here, name, options)),
    );
  raymond
    .command('logs <run>')
    .description('show what a run has reported')
    .option('-f, --follow', 'go on until it ends')
    .option('--json', 'the events of the journal')
    .action(async (name, options) =>
      finish((await import('./commands/logs.ts')).logs(here, name, options)),
    );
  raymond
    .command('stop <run>')
    .description('stop a run; it can be resumed')
    .option('--now', 'do not let running steps finish')
    .option('--json', 'say so in JSON')
    .action(async (name, options) =>
      finish((await import('./commands/stop.ts')).stop(here, name, options)),
    );
  raymond
    .command('answer [run] [text]')
    .description("answer an agent's question; - reads the answer from standard input")
    .option('--agent <id>', 'which agent, when several have a question')
    .option('--json', 'say so in JSON')
    .action(async (run, text, options) => {
      const words = [run, text].filter((word) => word !== undefined);
      await finish((await import('./commands/answer.ts')).answer(here, words, options));
    });
  raymond
    .command('prune [runs...]')
    .description('remove completed runs, or those that are named')
    .option('--all', 'also those that failed, wait or were stopped')
    .option('--older-than <time>', 'only those whose last event is older, like 30d')
    .option('--dry-run', 'only say what would be removed')
    .option('--discard-worktrees', 'also delete work that exists nowhere else, after a question')
    .option('-y, --yes', 'with --discard-worktrees: do not ask')
    .option('--json', 'one JSON object per run')
    .action(async (names, options) =>
      finish((await import('./commands/prune.ts')).prune(here, names, options)),
    );
  raymond
    .command('lint <workflow>')
    .description('find the faults of a workflow before it is run')
    .option('--json', 'one JSON object per fault')
    .option('--sarif', 'as SARIF, for code hosts')
    .option('--level <level>', 'the least that is shown: error, warning or note')
    .option('--windows', 'as it would run on Windows')
    .option(
      '--set <name=value>',
      'a variable that a run will have; may be repeated',
      (pair: string, before: readonly string[] = []) => [...before, pair],
    )
    .action(async (path, options) =>
      finish((await import('./commands/lint.ts')).lint(path, options)),
    );
  raymond
    .command('diagram [workflow]')
    .description('draw a workflow as Mermaid text')
    .option('--html', 'as one page that opens offline')
    .option('--svg', 'as a picture')
    .option('--run <run>', 'with the path, visits, time and cost of a run')
    .action(async (path, options) =>
      finish((await import('./commands/diagram.ts')).diagram(here, path, options)),
    );
  raymond
    .command('init [template] [folder]')
    .description('begin a workflow from a template')
    .option('--list', 'list the templates')
    .option('-y, --yes', 'ask nothing')
    .action(async (template, folder, options) =>
      finish((await import('./commands/init.ts')).init(template, folder, options)),
    );
  raymond
    .command('test [workflow] [names...]')
    .description('play the tests of a workflow (*.test.yaml), all or those that are named')
    .option('--coverage', 'list the states and transitions that no test has come through')
    .option('--explore', 'walk every path that the policies allow, instead; executes nothing')
    .option('--watch', 'again whenever a file of the workflow changes')
    .option('--record <run>', 'make a test of a run that is over, instead')
    .option('--junit <file>', 'write a report for a build server')
    .option('--json', 'one JSON object per test')
    .action(async (workflow, names, options) =>
      finish((await import('./commands/test.ts')).test(here, workflow, names, options)),
    );
  raymond
    .command('config [action]')
    .description(
      'show the configuration; "trust" approves the config file of this project as it is',
    )
    .option('--revoke', 'with trust: end it')
    .option('--json', 'as JSON')
    .action(async (action, options) =>
      finish((await import('./commands/config.ts')).config(here, action, options)),
    );
  raymond
    .command('doctor')
    .description('check whether workflows can run here, and say what to do')
    .option('--json', 'as JSON')
    .action(async (options) =>
      finish((await import('./commands/doctor.ts')).doctor(here, options)),
    );
  raymond
    .command('completion <shell>')
    .description('print a completion script for bash, zsh or fish')
    .action(async (shell) => finish((await import('./commands/completion.ts')).completion(shell)));
  raymond
    .command('__complete [words...]', { hidden: true })
    .action(async (words) =>
      finish((await import('./commands/completion.ts')).complete(here, raymond, words)),
    );
  return raymond;
}

function addRunOptions(command: Command, when: 'start' | 'resume' = 'start'): void {
  for (const spec of COMMAND_LINE_OPTIONS) {
    if (when === 'resume' && spec.onlyAtStart) continue;
    for (const option of commanderOptions(spec)) {
      if (spec.choice !== undefined) option.helpGroup('Options for the agent:');
      command.addOption(option);
    }
  }
  command.addHelpText('after', '\nEvery switch has its opposite, like --wait and --no-quiet.');
}

/** The parser gives all options as they are named. */
function withAgentApart(given: Readonly<Record<string, unknown>>) {
  const rows = COMMAND_LINE_OPTIONS.filter(({ choice }) => choice !== undefined);
  const names = new Set(rows.map(({ name }) => camelCase(name)));
  const others = Object.entries(given).filter(([name]) => !names.has(name));
  const ofAgent = fromValues(rows.map((row) => [row, given[camelCase(row.name)]]));
  return { ...Object.fromEntries(others), ...ofAgent };
}

/** A switch has two forms; the help shows the one that is not the default. */
function commanderOptions(spec: OptionSpec): readonly Option[] {
  const { name, kind, meaning, only, isOn } = spec;
  if (kind === 'flag') {
    const on = new Option(`--${name}`, meaning).hideHelp(isOn === true);
    const off = new Option(`--no-${name}`, meaning).hideHelp(isOn !== true);
    return only === 'command-line' ? [on] : [on, off];
  }
  const option = new Option(`--${name} <${spec.placeholder}>`, meaning);
  if (kind === 'list')
    option.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);
  else option.argParser((text: string) => readOption(spec, text));
  return [option];
}

/** Trouble with the machine or with another process; all else can be put right in what was typed or written. */
const OF_THE_SURROUNDINGS =
  /^(journal|lock|project|inbox|event|question|user)-|^run-(locked|suspended|out-of-reach)$|^no-executable$/;

async function finish(command: Promise<number>): Promise<void> {
  process.exitCode = await command;
}

/** Files are touched in many places, and what the system refuses there is nowhere a bug. */
function isDiskTrouble(error: unknown): error is Error & { readonly path?: unknown } {
  return error instanceof UnusableFile || (error instanceof Error && 'syscall' in error);
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return reportUsage(error);
  if (error instanceof UserError) {
    stderr.error(error);
    return OF_THE_SURROUNDINGS.test(error.code) ? 1 : USAGE;
  }
  if (isDiskTrouble(error)) {
    const where = typeof error.path === 'string' ? `${error.path}: ` : '';
    stderr.say(
      `raymond: ${where}${reasonOf(error)}.`,
      `         ${cureOf(error)}, then try again.`,
    );
    return 1;
  }
  const stack = error instanceof Error ? error.stack : String(error);
  stderr.say(`This is a bug in Raymond ${RAYMOND_VERSION}. Please report it:`);
  stderr.quote(stack ?? '');
  return 70;
}

/** What was typed is part of the message; what is known to be meant follows it on a line of its own. */
function reportUsage({ message, exitCode }: CommanderError): number {
  if (exitCode === 0) return 0;
  const [, fact = message, hint] = /^(.*)\n(\(Did you mean [^\n]*\?\))$/s.exec(message) ?? [];
  stderr.say(fact, ...(hint === undefined ? [] : [hint]), 'See: raymond --help');
  return USAGE;
}
