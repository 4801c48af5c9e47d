// The steps of action.yml. Untrusted text passes through here, so nothing goes through a shell,
// and nothing in it can command the runner of GitHub.
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** The runner reads these files after the step, and acts on what they say. */
const OUTPUTS = 'GITHUB_OUTPUT';
const SUMMARY = 'GITHUB_STEP_SUMMARY';
const COMMAND_FILES = [OUTPUTS, SUMMARY, 'GITHUB_ENV', 'GITHUB_PATH', 'GITHUB_STATE'];
/** A job may have a megabyte of outputs, and a step a megabyte of summary. GitHub draws no larger diagrams. */
const MOST_CHARACTERS = 50_000;
/** As for a shell that does not find a command. */
const NO_RAYMOND = 127;

/** The meaning of exit codes for a person; see docs/reference/exit-codes.md. */
const WORDS = {
  1: 'error::An agent failed.',
  2: 'warning::The run waits for a person, or for the end of a usage limit.',
  3: 'warning::The run has reached its budget, or its limit of steps.',
  64: 'error::The workflow or the options are wrong. The log of the step says what to change.',
  70: 'error::A bug in Raymond. Please report it.',
  127: 'error::There is no command raymond. Leave out the input "package", or install Raymond before.',
  130: 'warning::The run was interrupted.',
};

const { env } = process;
const [step] = process.argv.slice(2);
const token = randomUUID();
// The runner takes lines such as ::add-mask:: for commands, also those of agents, until it reads the token. All
// lines go through standard output: it reads standard error on its own, possibly later than the token.
say(`::stop-commands::${token}`);
const { code, words } = step === 'install' ? install() : await run();
say(`\n::${token}::`);
if (words) say(`::${words}`);
process.exitCode = code;

function install() {
  if (env.RUNNER_OS === 'Windows') return failed('This action works on Linux and macOS only.');
  const { name, version, engines } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  if (!isNewEnough(engines.node))
    return failed(`Raymond needs Node ${engines.node}. Put actions/setup-node before this action.`);
  const prefix = join(env.RUNNER_TEMP, 'raymond');
  const named = env.RAYMOND_PACKAGE || version;
  const isVersion = /^[a-z0-9][\w.-]*$/i.test(named) && !existsSync(named);
  // A global installation does not read the .npmrc of the project, which may be untrusted.
  const args = ['install', '--global', '--prefix', prefix, '--no-audit', '--no-fund', '--'];
  const spec = isVersion ? `${name}@${named}` : named;
  const { status } = spawnSync('npm', [...args, spec], { stdio: ['ignore', 1, 1] });
  if (status !== 0) return failed('npm could not install Raymond.');
  appendFileSync(env.GITHUB_PATH, `${join(prefix, 'bin')}\n`);
  return { code: 0 };
}

async function run() {
  const run = env.RAYMOND_RUN || `github-${env.GITHUB_RUN_ID}-${randomUUID().slice(0, 4)}`;
  const folder = join(env.RUNNER_TEMP, `raymond-${randomUUID()}`);
  const report = join(folder, 'report.log');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(report, '', { mode: 0o600 });
  const code = await carry(run, report);
  const found = asked(['show', run, '--json']);
  const shown = found && JSON.parse(found);
  const diagram = shown && asked(['diagram', '--run', run]);
  keep(join(folder, 'journal.jsonl'), shown && asked(['logs', run, '--json']));
  keep(join(folder, 'diagram.mmd'), diagram);
  // Also what a process of the run wrote into them, because it must not decide what later steps do.
  for (const name of COMMAND_FILES) if (env[name]) writeFileSync(env[name], '');
  setOutputs({
    ...{ run, folder, 'exit-code': code, result: cut(shown?.result?.text ?? '') },
    ...{ status: shown?.status ?? 'not-started', cost: shown?.cost_usd ?? 0 },
  });
  if (env[SUMMARY]) writeFileSync(env[SUMMARY], summary(run, code, shown, diagram, report));
  return { code, words: WORDS[code] };
}

/** The exit code. The report is in the log as it is written. */
async function carry(run, report) {
  const child = spawn('raymond', argumentsOf(run), {
    env: environmentOfRun(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kept = createWriteStream(report);
  child.stdout.pipe(process.stdout, { end: false });
  child.stderr.pipe(process.stdout, { end: false });
  child.stderr.pipe(kept);
  // A job that is cancelled has a few seconds.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill('SIGTERM'));
  try {
    const [[code]] = await Promise.all([once(child, 'close'), once(kept, 'close')]);
    return code ?? 1;
  } catch (error) {
    if (error.code === 'ENOENT') return NO_RAYMOND;
    throw error;
  }
}

/** A name that begins with a dash is a name. What the user adds comes after the defaults, and wins. */
function argumentsOf(run) {
  const further = (env.RAYMOND_ARGUMENTS ?? '').split('\n').map((line) => line.trim());
  return [
    ...['run', '--plain', '--no-wait', `--budget=${env.RAYMOND_BUDGET}`],
    ...(env.RAYMOND_TEXT ? [`--input=${env.RAYMOND_TEXT}`] : []),
    ...further.filter((line) => line !== ''),
    ...[`--workflow-id=${run}`, '--', env.RAYMOND_WORKFLOW],
  ];
}

/** Without what would let a step of the run change the steps after it, or act in the name of the job. */
function environmentOfRun() {
  const inputs = ['WORKFLOW', 'TEXT', 'BUDGET', 'ARGUMENTS', 'RUN', 'PACKAGE'];
  const left = new Set([...COMMAND_FILES, ...inputs.map((name) => `RAYMOND_${name}`)]);
  const isKept = ([name]) => !left.has(name) && !name.startsWith('ACTIONS_');
  return Object.fromEntries(Object.entries(env).filter(isKept));
}

/** Undefined if Raymond has no answer, as for a run that did not begin. */
function asked(args) {
  const { status, stdout } = spawnSync('raymond', args, {
    env: environmentOfRun(),
    encoding: 'utf8',
    maxBuffer: Number.POSITIVE_INFINITY,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return status === 0 ? stdout : undefined;
}

function keep(file, text) {
  if (text !== undefined) writeFileSync(file, text, { mode: 0o600 });
}

/** No value can contain the random line at its end, so none can set another output. */
function setOutputs(values) {
  for (const [name, value] of Object.entries(values)) {
    const end = randomUUID();
    appendFileSync(env[OUTPUTS], `${name}<<${end}\n${value}\n${end}\n`);
  }
}

function summary(run, code, shown, diagram, report) {
  const title = `## Raymond: ${shown?.status ?? 'not started'}\n`;
  if (!shown) return `${title}\nExit code ${code}.\n\n${fenced(readFileSync(report, 'utf8'))}`;
  const cost = `$${shown.cost_usd.toFixed(2)}${shown.budget_usd ? ` of $${shown.budget_usd.toFixed(2)}` : ''}`;
  return [
    title,
    '| run | exit code | cost | steps |\n| --- | --- | --- | --- |',
    `| ${inCell(run)} | ${code} | ${cost} | ${shown.steps} |\n`,
    ...(shown.result ? ['### Result\n', fenced(shown.result.text)] : []),
    ...(shown.failure ? ['### Failure\n', fenced(shown.failure.text ?? shown.failure)] : []),
    ...(isDrawn(diagram) ? ['### Path\n', fenced(diagram, 'mermaid')] : []),
    '### Report\n',
    fenced(readFileSync(report, 'utf8')),
  ].join('\n');
}

function isDrawn(diagram) {
  return diagram !== undefined && diagram.length <= MOST_CHARACTERS;
}

/** As a block of code, in which nothing is Markdown. Its fence is longer than each one in the text. */
function fenced(text, language = 'text') {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${cut(text).trimEnd()}\n${fence}\n`;
}

function inCell(text) {
  return text.replaceAll(/[^\w.-]/g, '?');
}

function cut(text) {
  if (text.length <= MOST_CHARACTERS) return text;
  return `${text.slice(0, MOST_CHARACTERS)}\n... (${text.length - MOST_CHARACTERS} more characters are in the artifact)`;
}

function isNewEnough(range) {
  const [wanted, has] = [range, process.versions.node].map((text) =>
    text.match(/\d+/g).map(Number),
  );
  return has[0] > wanted[0] || (has[0] === wanted[0] && has[1] >= wanted[1]);
}

function failed(message) {
  return { code: 1, words: `error::${message}` };
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
