/** The commands of Raymond. Each action imports its command, so that the others are not loaded. */
import { Command } from 'commander';
import { readOption } from '../options/option-values.ts';
import { RUN_OPTIONS } from '../options/run-options.ts';
import type { Here } from '../world/surroundings.ts';
import { RAYMOND_VERSION } from '../world/version.ts';
import { addRunOptions, withAgentApart } from './commander-options.ts';
import { HELP } from './help.ts';
import { stderr, stdout } from './terminal/terminal.ts';

export function program(here: Here, finish: Finish): Command {
  const raymond = new Command('raymond')
    .description(
      'Runs workflows for coding agents: folders of prompts and scripts, as state machines.',
    )
    .version(RAYMOND_VERSION, '-v, --version')
    .configureOutput({
      writeOut: stdout.document,
      writeErr: stderr.document,
      // `reportError` prints all errors in one form.
      outputError: () => {},
    })
    .configureHelp(HELP)
    .exitOverride()
    .enablePositionalOptions();
  raymond.commandsGroup('Run a workflow:');
  addStartingCommands(raymond, here, finish);
  raymond.commandsGroup('Look at runs:');
  addLookCommands(raymond, here, finish);
  raymond.commandsGroup('Answer agents:');
  addAnswerCommands(raymond, here, finish);
  raymond.commandsGroup('Write workflows:');
  addWorkflowCommands(raymond, here, finish);
  addScriptCommands(raymond, finish);
  raymond.commandsGroup('Operate Raymond:');
  addMachineCommands(raymond, here, finish);
  raymond.helpCommand(true);
  return raymond;
}

const DATABASE = [
  '--database <url>',
  'the PostgreSQL database of the runs; "none" means files',
] as const;

/** Waits for a command and sets its exit code. */
type Finish = (command: Promise<number>) => Promise<void>;

/** Commands that start, continue, stop or take back a run. */
function addStartingCommands(raymond: Command, here: Here, finish: Finish): void {
  const run = raymond
    .command('run [workflow]', { isDefault: true })
    .alias('start')
    .description(
      'run a workflow: a folder, a state file, a .zip or a .yaml (also: raymond <workflow>)',
    )
    .option('--init-config', 'write .raymond/config.toml with every option commented out')
    .action(async (workflow: string | undefined, options) => {
      if (options.initConfig) return finish((await import('./operate/config.ts')).initConfig(here));
      const { run } = await import('./run/run.ts');
      await finish(run(here, workflow, withAgentApart(options)));
    });
  addRunOptions(run);

  const resume = raymond
    .command('resume [run]')
    .description('continue a run')
    .option('--all', 'continue every run that can continue')
    .option('--salvage', 'keep the readable part of a damaged journal')
    .option('--fresh', 'retry the states of failed agents in new sessions')
    .option('--trust-run', 'continue a run that you did not start here')
    .option('--accept-changes', 'use workflow files that have changed since the run read them')
    .action(async (name: string | undefined, options) => {
      await finish((await import('./run/resume.ts')).resume(here, name, withAgentApart(options)));
    });
  addRunOptions(resume, 'resume');
  raymond
    .command('stop [run]')
    .description('stop a run; it can be resumed')
    .option('--now', 'also stop running steps')
    .option('--json', 'print JSON')
    .option(...DATABASE)
    .action(async (name, options) =>
      finish((await import('./run/stop.ts')).stop(here, name, options)),
    );
  raymond
    .command('rewind <run>')
    .description('take a run back to the moment before a step: conversation, files and stack')
    .option('--to <step>', 'the step, such as main:3; "raymond show --steps" lists the steps')
    .option('--undo', 'undo the last rewind instead')
    .option('--no-files', 'leave files alone')
    .option('-y, --yes', 'do not ask')
    .option('--json', 'print JSON')
    .option(...DATABASE)
    .action(async (name, options) =>
      finish((await import('./run/rewind.ts')).rewind(here, name, options)),
    );
  const several = (text: string, before: string[] | undefined) => [...(before ?? []), text];
  raymond
    .command('try <run>')
    .description(
      'continue copies of a run from before a step, with other prompts or models, each in a worktree; without --at: show them',
    )
    .option('--at <step>', 'the step, such as main:3; "raymond show --steps" lists the steps')
    .option(
      '--with <file>',
      'another text of a state: FILE, STATE=FILE or a folder; each one is a variant',
      several,
    )
    .option('--model <name>', 'another model for the step; each one is a variant', several)
    .option('--effort <level>', 'another effort for the step; each one is a variant', several)
    .option('--agent <name>', 'another agent; each one is a variant', several)
    .option('--input <text>', 'another value for the step; each one is a variant', several)
    .option('--times <n>', 'try each variant n times')
    .option('--steps <n>', 'begin at most n states in each variant')
    .option('--alone', 'continue only the agent of the step')
    .option('--no-files', 'work in the directory as it is now, one variant after another')
    .option('--budget <usd>', 'what each variant may spend (default: as for a new run)')
    .option('--total-budget <usd>', 'what all variants together may spend')
    .option('--max-parallel <n>', 'how many variants work at a time (default 4)')
    .option('--trust-run', 'branch a run that you did not start here')
    .option('--detach', 'do not wait for the variants')
    .option('--json', 'print JSON')
    .option(...DATABASE)
    .action(async (name, options) =>
      finish((await import('./run/try.ts')).tryVariants(here, name, options)),
    );
  raymond
    .command('eval <workflow>')
    .description(
      'run the cases of eval.yaml under each variant of a workflow, score the runs, and say what the comparison shows',
    )
    .option(
      '--times <n>',
      'run each case under each variant n times (default: as the file says, or 1)',
    )
    .option(
      '--budget <usd>',
      'what all runs and scores together may spend; 0 is unlimited (default 10)',
    )
    .option('--max-parallel <n>', 'how many runs work at a time (default 4)')
    .option('--save-baseline', 'write the outcome to the baseline file of the gate')
    .option('--add-case <run>', 'add a case with the input and the result of a run instead')
    .option('--name <name>', 'with --add-case: the name of the case (default: the id of the run)')
    .option('--junit <file>', 'also write a report for a build server')
    .option('--json', 'print JSON')
    .option(...DATABASE)
    .action(async (path, options) =>
      finish((await import('./run/eval.ts')).evaluate(here, path, options)),
    );
}

/** Commands that show runs. */
function addLookCommands(raymond: Command, here: Here, finish: Finish): void {
  raymond
    .command('list')
    .description('list the runs of this project')
    .option('--status <words>', 'only runs with this status, such as failed or running,waiting')
    .option('-n, --number <n>', 'show only the newest n runs')
    .option('--workflows', 'list the workflows here and below instead, with what they take')
    .option('--workers', 'list the workers of the database instead')
    .option('--json', 'print one JSON object per run, workflow or worker')
    .option(...DATABASE)
    .action(async (options) => finish((await import('./look/list.ts')).list(here, options)));
  raymond
    .command('show [run] [step]')
    .description(
      'show the agents of a run, and the time and cost of its states, or what one step said',
    )
    .option('-f, --follow', 'with a step: show what it says until it is over')
    .option('--context', 'with a step: show what its model saw, in tokens by kind and by step')
    .option('--notes', 'show the notes of its agents, and the lessons that it got and proposes')
    .option('--steps', 'list the steps instead, by the names that rewind accepts')
    .option('--rights', 'list the states instead, with what they may touch and what was refused')
    .option('--files', 'list the files of questions and answers instead')
    .option('--file <name>', 'print this file of a question or an answer instead')
    .option('--save <folder>', 'with --files or --file: copy them into this folder')
    .option('--timeline', 'draw a row for each agent instead, with its steps and waits')
    .option('--svg', 'with --timeline: draw an SVG picture')
    .option('--json', 'print the state as JSON')
    .option(...DATABASE)
    .action(async (name, step, options) =>
      finish((await import('./look/show.ts')).show(here, name, step, options)),
    );
  raymond
    .command('logs [run]')
    .description('show what a run has reported')
    .option('-f, --follow', 'follow the run until it stops')
    .option('--agent <id>', 'only what this agent did')
    .option('--verbose', 'also what was said and done in each step')
    .option('--json', 'print the events of the journal')
    .option(...DATABASE)
    .action(async (name, options) =>
      finish((await import('./look/logs.ts')).logs(here, name, options)),
    );
  raymond
    .command('diff [run] [part]')
    .description('show the files that a run, an agent (main) or a step (main:4) has changed')
    .option('--stat', 'a line for each file')
    .option('--json', 'print JSON')
    .option(...DATABASE)
    .action(async (name, part, options) =>
      finish((await import('./look/diff.ts')).diff(here, name, part, options)),
    );
  raymond
    .command('watch [run]')
    .description('show a run live until it ends, and answer its questions')
    .option('--plain', 'plain lines, without colour')
    .option('--json', 'print the events of the journal')
    .option(...DATABASE)
    .action(async (name, options) =>
      finish((await import('./look/watch.ts')).watch(here, name, options)),
    );
}

/** Commands for those whom agents ask. */
function addAnswerCommands(raymond: Command, here: Here, finish: Finish): void {
  raymond
    .command('answer [run] [text] [message]')
    .description(
      "answer an agent's question, or decide about a tool call: allow, allow-run, or deny with a message",
    )
    .option('--agent <id>', 'the agent to answer, if several have a question')
    .option('--file <path>', 'send this file with the answer; may be repeated', repeated)
    .option('--request <id>', 'the permission request to decide, if several are open')
    .option(
      '--code <code>',
      'a one-time code of a notification, in place of the run; - reads it from stdin',
    )
    .option(
      '--sign <key>',
      'sign the answer with this ssh key, for a question that needs signatures',
    )
    .option(
      '--signature <file>',
      'an answer that somebody has signed with ssh-keygen -Y sign -n raymond',
    )
    .option('--to-sign', 'print the text that such a signature is for')
    .option('--json', 'print JSON')
    .option(...DATABASE)
    .action(async (run, text, message, options) => {
      const words = [run, text, message].filter((word) => word !== undefined);
      await finish((await import('./answer/answer.ts')).answer(here, words, options));
    });
  raymond
    .command('say <run> [text]')
    .description('say something to an agent while it works, or before its next prompt')
    .option('--agent <id>', 'the agent, if the run has several')
    .option('--json', 'print JSON')
    .option(...DATABASE)
    .action(async (run, text, options) =>
      finish((await import('./answer/say.ts')).say(here, run, text, options)),
    );
  raymond
    .command('inbox')
    .description('list what waits for you in all projects: questions and permission requests')
    .option('--json', 'print one JSON object per question or request')
    .option(...DATABASE)
    .action(async (options) => finish((await import('./look/inbox.ts')).inbox(here, options)));
}

/** Commands for the author of a workflow. */
function addWorkflowCommands(raymond: Command, here: Here, finish: Finish): void {
  raymond
    .command('lint <workflow>')
    .description('find errors in a workflow before you run it')
    .option('--json', 'print one JSON object per finding')
    .option('--sarif', 'print SARIF, for code hosts')
    .option('--level <level>', 'the lowest level to show: error, warning or note')
    .option('--windows', 'check the workflow for Windows')
    .option('--set <name=value>', 'a variable that a run will have; may be repeated', repeated)
    .option('--against-runs', 'also report answers of finished runs that would now be refused')
    .option(...DATABASE)
    .action(async (path, options) =>
      finish((await import('./author/lint.ts')).lint(here, path, options)),
    );
  raymond
    .command('lsp')
    .description('serve an editor on standard input and output: a language server for workflows')
    .option('--stdio', 'as editors ask for; there is no other way')
    .action(async () => finish((await import('./author/lsp.ts')).lsp(here)));
  raymond
    .command('check <workflow>')
    .description('lint, explore, bound and rehearse a workflow in one report; executes nothing')
    .option('--json', 'print JSON')
    .option(...DATABASE)
    .action(async (path, options) =>
      finish((await import('./author/check.ts')).check(here, path, options)),
    );
  raymond
    .command('bound <workflow>')
    .description('show the most that a run can use: prompts, agents, dollars and time')
    .option(
      '--turn <usd>',
      'the price of a prompt; otherwise finished runs say what states cost',
      reading('budget', 'turn'),
    )
    .option('--budget <usd>', 'the budget of the run; 0 is unlimited', reading('budget'))
    .option('--max-agents <n>', 'as for a run', reading('max-agents'))
    .option('--max-iterations <n>', 'as for a run', reading('max-iterations'))
    .option('--json', 'print JSON')
    .option(...DATABASE)
    .action(async (path, options) =>
      finish((await import('./author/bound.ts')).bound(here, path, options)),
    );
  raymond
    .command('diagram [workflow]')
    .description('draw a workflow as Mermaid text')
    .option('--html', 'draw one HTML page that opens offline')
    .option('--svg', 'draw an SVG picture')
    .option('--run <run>', 'add the path, visits, time and cost of a run')
    .option('--heat <cost|time>', 'colour states by their share, in a run or in finished runs')
    .option(...DATABASE)
    .action(async (path, options) =>
      finish((await import('./author/diagram.ts')).diagram(here, path, options)),
    );
  raymond
    .command('init [template] [folder]')
    .description('create a workflow from a template')
    .option('--list', 'list the templates')
    .option('-y, --yes', 'ask no questions')
    .option('--rights', 'confine all steps of this project, in .raymond/config.toml')
    .action(async (template, folder, options) =>
      finish((await import('./author/init.ts')).init(here, template, folder, options)),
    );
  raymond
    .command('convert <from> <to>')
    .description('write a workflow as a folder, a .zip or a .yaml, by the extension of <to>')
    .option('--force', 'overwrite existing files')
    .action(async (from, to, options) =>
      finish((await import('./author/convert.ts')).convert(here, from, to, options)),
    );
  raymond
    .command('add <source> [folder]')
    .description('add a workflow that others share: an archive, or a folder of a git repository')
    .option('-y, --yes', 'ask no questions')
    .action(async (source, folder, options) =>
      finish((await import('./author/add.ts')).add(here, source, folder, options)),
    );
  raymond
    .command('update [folders...]')
    .description('update workflows that were added, all or the named ones')
    .option('--check', 'only say which differ from their source')
    .option('-y, --yes', 'ask no questions')
    .option('--force', 'also replace files that were changed here')
    .option('--json', 'print one JSON object per workflow')
    .action(async (folders, options) =>
      finish((await import('./author/add.ts')).update(here, folders, options)),
    );
  raymond
    .command('skill <workflow>')
    .description('pack a workflow as a skill, so that agents can find and start it')
    .option('--out <folder>', 'the folder of all skills (default .agents/skills)')
    .option('--name <name>', 'the name of the skill (default: the name of the workflow)')
    .option('--force', 'replace files that this command did not write')
    .action(async (path, options) =>
      finish((await import('./author/skill.ts')).skill(here, path, options)),
    );
  raymond
    .command('test [workflow] [names...]')
    .description('play the tests of a workflow (*.test.yaml), all or the named ones')
    .option('--coverage', 'list the states and transitions that no test reaches')
    .option('--explore', 'walk every path that the policies allow instead; executes nothing')
    .option('--watch', 'play the tests again when a file of the workflow changes')
    .option('--record <run>', 'write a test from a finished run instead')
    .option(
      '--against-runs',
      'say which finished runs, all or the named ones, would now go elsewhere',
    )
    .option('-n, --number <n>', 'with --against-runs: only the newest n runs')
    .option('--status <status>', 'with --against-runs: only runs with this status, such as failed')
    .option('--junit <file>', 'write a JUnit report for a build server')
    .option('--json', 'print one JSON object per test or run')
    .option(...DATABASE)
    .action(async (workflow, names, options) =>
      finish((await import('./author/test.ts')).test(here, workflow, names, options)),
    );
}

/** Commands for the scripts of a workflow. */
function addScriptCommands(raymond: Command, finish: Finish): void {
  raymond
    .command('tag <name> [body]')
    .description('print a transition tag with escaped values, for scripts')
    .option('-a, --attr <name=value>', 'an attribute of the tag; may be repeated', repeated)
    .option('--input <text>', 'the value for the target')
    .option('--input-file <file>', 'read that value from a file; - is standard input')
    .option('--body-file <file>', 'read the body from a file; - is standard input')
    .option('--json <file>', 'read the JSON of a result from a file; - is standard input')
    .action(async (name, body, options) =>
      finish((await import('./author/tag.ts')).tag(name, body, options)),
    );
}

/** Reads a value as the run option of that name does. */
function reading(option: 'budget' | 'max-agents' | 'max-iterations', name: string = option) {
  const row = RUN_OPTIONS.find((one) => one.name === option);
  return (text: string) => (row ? Number(readOption({ ...row, name }, text)) : undefined);
}

const repeated = (one: string, before: readonly string[] = []) => [...before, one];

/** Commands for the machine, the shell and other programs. */
function addMachineCommands(raymond: Command, here: Here, finish: Finish): void {
  raymond
    .command('serve')
    .description('serve a page and an API for the runs of this project, on this machine only')
    .option('--port <n>', 'the port; 0 means any free one (default 4170, or a free one)')
    .option('--json', 'print the address as JSON')
    .option(...DATABASE)
    .action(async (options) => finish((await import('./operate/serve.ts')).serve(here, options)));
  raymond
    .command('up [directories...]')
    .description('keep the triggers of projects, and start their runs, until it is stopped')
    .option('--listen <address>', 'take deliveries of webhooks here, like 127.0.0.1:8788')
    .option('--serve', 'also serve the page, as "raymond serve" does')
    .option('--port <n>', 'with --serve: the port of the page')
    .option('--install', 'write the file with which systemd or launchd starts this, and end')
    .option(...DATABASE)
    .action(async (directories, options) =>
      finish((await import('./operate/up.ts')).up(here, directories, options)),
    );
  raymond
    .command('triggers')
    .description('list the triggers of this project, with their last and next occasions')
    .option('--occasions <n>', 'list the newest n occasions of all triggers instead')
    .option('--replay <occasion>', 'let a delivery of a webhook happen again')
    .option('--json', 'print one JSON object per trigger or occasion')
    .option(...DATABASE)
    .action(async (options) =>
      finish((await import('./look/triggers.ts')).triggers(here, options)),
    );
  raymond
    .command('worker')
    .description('execute steps of the runs in a database, until it is stopped')
    .option(...DATABASE)
    .option('--name <name>', 'the name of the worker (default: the name of this machine)')
    .option('--state <folder>', 'the folder for the files of its steps; one for each worker')
    .option('--prompts <n>', 'at most this many prompts in parallel (default 8)')
    .option('--scripts <n>', 'at most this many scripts in parallel (default 8)')
    .option('--prompts-for-all <n>', 'at most this many prompts in parallel on all workers')
    .option('--scripts-for-all <n>', 'at most this many scripts in parallel on all workers')
    .option('--lease <seconds>', 'seconds without a heartbeat before others take over (default 60)')
    .option('--trust-runs', 'also execute runs that no key of this user has sealed')
    .option('--json', 'print one JSON object per heartbeat')
    .action(async (options) => finish((await import('./operate/worker.ts')).worker(here, options)));
  raymond
    .command('mcp')
    .description('serve tools for an orchestrating agent on standard input and output')
    .option('--budget <usd>', 'the highest budget that the agent may give a run; 0 is unlimited')
    .option('--decide-permissions', 'let the agent grant permission requests of other agents')
    .option(...DATABASE)
    .action(async (options) => finish((await import('./operate/mcp.ts')).mcp(here, options)));
  raymond
    .command('acp [workflow]')
    .description('serve workflows as an agent for editors, with the Agent Client Protocol')
    .option(...DATABASE)
    .action(async (workflow) => finish((await import('./operate/acp.ts')).acp(here, workflow)));
  raymond
    .command('config [action]')
    .description('show the configuration; "trust" is the same as "raymond trust"')
    .option('--yes', 'with trust: approve without asking')
    .option('--revoke', 'with trust: withdraw the approval')
    .option('--json', 'print JSON')
    .action(async (action, options) =>
      finish((await import('./operate/config.ts')).config(here, action, options)),
    );
  raymond
    .command('trust [name]')
    .description(
      'show and approve the commands in the config file and the agent settings of this project, the triggers of a workflow, the lessons of a run, or what agents propose',
    )
    .option('--lessons', 'show what a run proposes as lessons, and keep them for later runs')
    .option('--proposals', 'list what agents propose as workflows, or show one and write its files')
    .option('--yes', 'approve without asking')
    .option('--revoke', 'withdraw the approval, or reject the proposal')
    .option(...DATABASE)
    .action(async (name, options) =>
      finish((await import('./operate/trust.ts')).trustProject(here, options, name)),
    );
  raymond
    .command('secret <action> [name]')
    .description(
      '"set NAME" saves a secret from standard input; "list" and "remove NAME" manage them',
    )
    .option('--json', 'with list: print JSON')
    .action(async (action, name, options) =>
      finish((await import('./operate/secret.ts')).secret(here, action, name, options)),
    );
  raymond
    .command('prune [runs...]')
    .description('remove completed runs after a question, or the named ones at once')
    .option('--all', 'also remove runs that failed, are waiting or were stopped')
    .option('--older-than <time>', 'only runs whose last event is older, such as 30d')
    .option('--dry-run', 'only report what would be removed')
    .option('--discard-worktrees', 'also delete work that exists nowhere else; asks first')
    .option('-y, --yes', 'do not ask')
    .option('--json', 'print one JSON object per run')
    .option(...DATABASE)
    .action(async (names, options) =>
      finish((await import('./operate/prune.ts')).prune(here, names, options)),
    );
  raymond
    .command('doctor')
    .description('check whether workflows can run here, and say how to fix problems')
    .option('--json', 'print JSON')
    .action(async (options) => finish((await import('./operate/doctor.ts')).doctor(here, options)));
  raymond
    .command('completion <shell>')
    .description('print a completion script for bash, zsh or fish')
    .action(async (shell) => finish((await import('./operate/completion.ts')).completion(shell)));
  raymond
    .command('version')
    .description('print the version')
    .action(async () => {
      await stdout.document(`${RAYMOND_VERSION}\n`);
    });
  raymond
    .command('__detached <run>', { hidden: true })
    .action(async (run) => finish((await import('./run/detached.ts')).detached(here, run)));
  raymond
    .command('__guard', { hidden: true })
    .action(async () => finish((await import('./operate/guard.ts')).guard()));
  raymond
    .command('__complete [words...]', { hidden: true })
    .action(async (words) =>
      finish((await import('./operate/completion.ts')).complete(here, raymond, words)),
    );
}
