/**
 * Executes the steps of a composite action as the runner of GitHub does: expressions, `if`, `env`, the files in
 * which a step names outputs, variables and paths, and commands in the log. An action that it uses is not
 * executed: its inputs are recorded.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { evaluate, filledIn, type Known } from './expressions.ts';
import { type Action, actionSchema } from './shapes.ts';

export interface Job {
  /** The folder with `action.yml`. */
  readonly action: string;
  readonly workspace: string;
  readonly temp: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  /** Called with the process of each step, as for a job that is cancelled. */
  readonly onStep?: (name: string, pid: number) => void;
}

export interface JobEnd {
  readonly outcome: 'success' | 'failure';
  readonly outputs: Readonly<Record<string, string>>;
  readonly steps: readonly StepEnd[];
  readonly log: string;
  readonly summary: string;
  /** The commands in the log that the runner has carried out. */
  readonly commands: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly paths: readonly string[];
}

export interface StepEnd {
  readonly name: string;
  readonly outcome: 'success' | 'failure' | 'skipped';
  readonly code?: number | null | undefined;
  readonly uses?: { readonly action: string; readonly with: Readonly<Record<string, string>> };
  /** The files of the paths that an action got, at that moment. */
  readonly files?: readonly string[];
}

export async function runAction(job: Job): Promise<JobEnd> {
  const action = readAction(join(job.action, 'action.yml'));
  const steps: Record<string, { outputs: Readonly<Record<string, string>> }> = {};
  const known: Known = { inputs: inputsOf(action, job.inputs), steps };
  const state = {
    ...{ hasFailed: false, log: '', summary: '', variables: {} as Record<string, string> },
    ...{ commands: [] as string[], paths: [] as string[], ends: [] as StepEnd[] },
  };
  for (const step of action.runs.steps) {
    const name = step.name ?? step.id ?? step.uses ?? 'step';
    if (!isDue(step.if, known, state.hasFailed)) {
      state.ends.push({ name, outcome: 'skipped' });
      continue;
    }
    const fill = (values: Readonly<Record<string, string>> = {}) =>
      Object.fromEntries(
        Object.entries(values).map(([key, value]) => [key, filledIn(value, known)]),
      );
    if (step.uses !== undefined) {
      const given = fill(step.with);
      const files = existsSync(given.path ?? '') ? readdirSync(given.path ?? '').sort() : [];
      state.ends.push({
        name,
        outcome: 'success',
        uses: { action: step.uses, with: given },
        files,
      });
      continue;
    }
    const files = commandFiles(job.temp, state.ends.length);
    const end = await runShell(step.run, {
      cwd: join(job.workspace, filledIn(step['working-directory'] ?? '.', known)),
      temp: job.temp,
      env: {
        ...job.env,
        ...state.variables,
        ...fill(step.env),
        PATH: [...state.paths.toReversed(), job.env.PATH].join(':'),
        GITHUB_ACTION_PATH: job.action,
        GITHUB_WORKSPACE: job.workspace,
        RUNNER_TEMP: job.temp,
        ...files,
      },
      started: (pid) => job.onStep?.(name, pid),
    });
    const read = readLog(end.stdout, end.stderr);
    state.log += read.log;
    state.commands.push(...read.commands);
    Object.assign(state.variables, namedValues(files.GITHUB_ENV));
    state.paths.push(...readFileSync(files.GITHUB_PATH, 'utf8').split('\n').filter(Boolean));
    state.summary += readFileSync(files.GITHUB_STEP_SUMMARY, 'utf8');
    if (step.id !== undefined) steps[step.id] = { outputs: namedValues(files.GITHUB_OUTPUT) };
    if (end.code !== 0) state.hasFailed = true;
    state.ends.push({ name, outcome: end.code === 0 ? 'success' : 'failure', code: end.code });
  }
  const { ends, hasFailed, ...rest } = state;
  // The runner evaluates the outputs of a failed action as well.
  const outputs = Object.entries(action.outputs ?? {}).map(([name, { value }]) => [
    name,
    filledIn(value, known),
  ]);
  return {
    ...rest,
    outcome: hasFailed ? 'failure' : 'success',
    outputs: Object.fromEntries(outputs),
    steps: ends,
  };
}

export function readAction(file: string): Action {
  return actionSchema.parse(parse(readFileSync(file, 'utf8')));
}

function inputsOf({ inputs = {} }: Action, given: Readonly<Record<string, string>>) {
  for (const name of Object.keys(given))
    if (!(name in inputs)) throw new Error(`The action has no input ${name}.`);
  return Object.fromEntries(
    Object.entries(inputs).map(([name, { default: usual = '', required }]) => {
      if (required && given[name] === undefined) throw new Error(`The input ${name} is missing.`);
      return [name, given[name] ?? usual];
    }),
  );
}

/** A condition that does not ask for the status of the earlier steps needs their success. */
function isDue(condition: string | undefined, known: Known, hasFailed: boolean): boolean {
  const status = { always: true, success: !hasFailed, failure: hasFailed };
  if (condition === undefined) return status.success;
  const asks = /\b(?:always|success|failure|cancelled)\(/.test(condition);
  const holds = Boolean(evaluate(condition, { ...known, status }));
  return asks ? holds : status.success && holds;
}

function commandFiles(temp: string, step: number) {
  const folder = join(temp, '_runner_file_commands');
  mkdirSync(folder, { recursive: true });
  const file = (name: string) => {
    const path = join(folder, `${name}_${step}`);
    writeFileSync(path, '');
    return path;
  };
  return {
    GITHUB_OUTPUT: file('set_output'),
    GITHUB_ENV: file('set_env'),
    GITHUB_PATH: file('add_path'),
    GITHUB_STATE: file('save_state'),
    GITHUB_STEP_SUMMARY: file('step_summary'),
  };
}

interface Shell {
  readonly cwd: string;
  readonly temp: string;
  readonly env: Readonly<Record<string, string>>;
  readonly started: (pid: number) => void;
}

async function runShell(script: string, { cwd, temp, env, started }: Shell) {
  const file = join(temp, 'step.sh');
  writeFileSync(file, script);
  const child = spawn('bash', ['--noprofile', '--norc', '-e', '-o', 'pipefail', file], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  started(child.pid ?? 0);
  const [code]: (number | null)[] = await once(child, 'close');
  return { ...texts, code };
}

/** Those that a line of a log can give. */
const COMMANDS = [
  ...[
    'add-mask',
    'add-matcher',
    'add-path',
    'debug',
    'echo',
    'endgroup',
    'error',
    'group',
    'notice',
  ],
  ...['remove-matcher', 'save-state', 'set-env', 'set-output', 'warning'],
];

/**
 * The runner reads the two streams apart. A line of standard error may come when the whole standard output has
 * been read, so that is what happens here.
 */
function readLog(stdout: string, stderr: string) {
  let stopped: string | undefined;
  const log: string[] = [];
  const commands: string[] = [];
  for (const line of `${stdout}\n${stderr}`.split(/\r?\n/)) {
    const known = [...COMMANDS, 'stop-commands', ...(stopped === undefined ? [] : [stopped])];
    const found = commandIn(line, known);
    if (found === undefined || (stopped !== undefined && found.name !== stopped)) log.push(line);
    else if (found.name === stopped) stopped = undefined;
    else if (found.name === 'stop-commands') stopped = found.text;
    else commands.push(`${found.name}: ${found.text}`);
  }
  return { log: `${log.join('\n')}\n`, commands };
}

/** `::name key=value::text` at the start of a line, or the older `##[name key=value;]text` anywhere in it. */
function commandIn(line: string, known: readonly string[]) {
  for (const form of [/^\s*::(.*?)::(.*)$/, /##\[(.*?)\](.*)$/]) {
    const [, info = '', text = ''] = form.exec(line) ?? [];
    const [name = ''] = info.split(' ');
    if (known.includes(name.toLowerCase())) return { name: name.toLowerCase(), text };
  }
  return undefined;
}

/** The values of a file: `name=value`, or `name<<END`, lines, and a line that is END. */
function namedValues(file: string): Record<string, string> {
  const values: Record<string, string> = {};
  const lines = readFileSync(file, 'utf8').split('\n');
  while (lines.length > 0) {
    const line = lines.shift() ?? '';
    const [, name, end] = /^([^=]*?)<<(.*)$/.exec(line) ?? [];
    if (name !== undefined && end !== undefined) {
      const length = lines.indexOf(end);
      if (length < 0) throw new Error(`The value of ${name} has no end.`);
      values[name] = lines
        .splice(0, length + 1)
        .slice(0, -1)
        .join('\n');
    } else if (line.includes('=')) {
      values[line.slice(0, line.indexOf('='))] = line.slice(line.indexOf('=') + 1);
    } else if (line !== '') throw new Error(`This line names no value: ${line}`);
  }
  return values;
}
