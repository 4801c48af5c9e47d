/** Every run option, once: the command line, the config file and the help are made from this table. */
import { UserError } from '../model/user-error.ts';
import { readDuration } from '../parse/transition.ts';

export interface OptionSpec {
  readonly name: string;
  readonly kind: 'flag' | 'number' | 'count' | 'text' | 'list';
  readonly placeholder?: string;
  readonly meaning: string;
  /** As it is written in a config file. */
  readonly example: string;
  /** Makes sense for a single run only. */
  readonly notInConfig?: true;
  readonly check?: (value: string) => string | undefined;
}

export const RUN_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'budget',
    kind: 'number',
    placeholder: 'usd',
    meaning: 'stop when this much is spent; 0 is unlimited (default 10.00)',
    example: '10.0',
  },
  {
    name: 'max-iterations',
    kind: 'count',
    placeholder: 'n',
    meaning: 'stop after this many steps; 0 is unlimited (default)',
    example: '100',
  },
  {
    name: 'model',
    kind: 'text',
    placeholder: 'name',
    meaning: 'model for states that name none: opus, sonnet, haiku or a full id',
    example: '"sonnet"',
    check: (value) =>
      /^((opus|sonnet|haiku)(\[1m\])?|claude-[\w.[\]-]+)$/.test(value)
        ? undefined
        : 'name opus, sonnet, haiku, or a full id that begins with claude-',
  },
  {
    name: 'effort',
    kind: 'text',
    placeholder: 'level',
    meaning: 'effort for states that name none: low, medium, high',
    example: '"medium"',
    check: (value) =>
      /^[a-z]+$/.test(value) ? undefined : 'name a level such as low, medium or high',
  },
  {
    name: 'timeout',
    kind: 'number',
    placeholder: 'seconds',
    meaning: 'stop a step that is silent for this long; 0 is never (default 600)',
    example: '600',
  },
  {
    name: 'input',
    kind: 'text',
    placeholder: 'text',
    meaning: 'value of {{input}} for the first state',
    example: '"..."',
  },
  {
    name: 'set',
    kind: 'list',
    placeholder: 'name=value',
    meaning: 'a variable for every prompt and script; may be repeated',
    example: '["issue=195"]',
  },
  {
    name: 'workflow-id',
    kind: 'text',
    placeholder: 'id',
    meaning: 'id of the new run, instead of one that is made up',
    example: '""',
    notInConfig: true,
  },
  {
    name: 'permission-mode',
    kind: 'text',
    placeholder: 'mode',
    meaning: 'what the agent may do unasked (default acceptEdits)',
    example: '"acceptEdits"',
    check: (value) =>
      /^[A-Za-z]+$/.test(value) ? undefined : 'name a mode such as acceptEdits or plan',
  },
  {
    name: 'dangerously-skip-permissions',
    kind: 'flag',
    meaning: 'let the agent do anything, unasked: only where it can do no harm',
    example: 'false',
  },
  {
    name: 'max-parallel',
    kind: 'count',
    placeholder: 'n',
    meaning: 'at most this many prompts at a time (default 16), and as many scripts (default 256)',
    example: '16',
  },
  {
    name: 'fail-fast',
    kind: 'flag',
    meaning: 'stop the other agents as soon as one fails',
    example: 'false',
  },
  {
    name: 'no-wait',
    kind: 'flag',
    meaning: 'pause at a usage limit instead of waiting for its end',
    example: 'false',
  },
  {
    name: 'no-warm',
    kind: 'flag',
    meaning: 'start a new agent process for each prompt',
    example: 'false',
  },
  {
    name: 'rehearse',
    kind: 'flag',
    meaning: 'play the workflow without a model: costs nothing',
    example: 'false',
    notInConfig: true,
  },
  {
    name: 'rehearsal',
    kind: 'text',
    placeholder: 'file',
    meaning: 'rehearse with the answers of this file instead of rehearsal.yaml',
    example: '"..."',
    notInConfig: true,
  },
  {
    name: 'debug',
    kind: 'flag',
    meaning: 'keep what agents said in .raymond/debug (default)',
    example: 'true',
  },
  { name: 'no-debug', kind: 'flag', meaning: 'keep no debug folder', example: 'false' },
  { name: 'quiet', kind: 'flag', meaning: 'report warnings and failures only', example: 'false' },
  { name: 'verbose', kind: 'flag', meaning: 'show what agents say and do', example: 'false' },
  { name: 'plain', kind: 'flag', meaning: 'plain lines, without colour', example: 'false' },
  {
    name: 'json',
    kind: 'flag',
    meaning: 'print one JSON object per event on stdout',
    example: 'false',
  },
  {
    name: 'log-file',
    kind: 'text',
    placeholder: 'file',
    meaning: 'append the report to a file, too',
    example: '"raymond.log"',
  },
];

/** For the config file only. */
export const CLAUDE_PATH: OptionSpec = {
  name: 'claude-path',
  kind: 'text',
  meaning: 'the claude executable, instead of what PATH finds; RAYMOND_CLAUDE wins over it',
  example: '"/usr/local/bin/claude"',
};

export interface RunOptions {
  readonly budget?: number;
  readonly maxIterations?: number;
  readonly model?: string;
  readonly effort?: string;
  readonly timeout?: number;
  readonly input?: string;
  readonly set?: readonly string[];
  readonly workflowId?: string;
  readonly permissionMode?: string;
  readonly dangerouslySkipPermissions?: boolean;
  readonly maxParallel?: number;
  readonly failFast?: boolean;
  readonly noWait?: boolean;
  readonly noWarm?: boolean;
  readonly rehearse?: boolean;
  readonly rehearsal?: string;
  readonly debug?: boolean;
  readonly noDebug?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly plain?: boolean;
  readonly json?: boolean;
  readonly logFile?: string;
  readonly claudePath?: string;
}

export function camelCase(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** The value of an option as written on the command line. */
export function readOption(spec: OptionSpec, text: string): number | string {
  const problem = optionProblem(spec, text);
  if (problem) throw wrongUsage(`--${spec.name} is "${text}".`, `${capital(problem)}.`);
  if (spec.name === 'timeout') return (readDuration(text) ?? 0) / 1000;
  return spec.kind === 'number' || spec.kind === 'count' ? Number(text) : text;
}

/** What is wrong with a value, as a remedy; undefined when nothing is. */
export function optionProblem(spec: OptionSpec, text: string): string | undefined {
  if (spec.name === 'timeout') {
    return readDuration(text) === undefined ? 'write seconds, or a time like 10m' : undefined;
  }
  if (spec.kind === 'number' && !/^\d+(\.\d+)?$/.test(text))
    return 'write a number that is not negative';
  if (spec.kind === 'count' && !/^\d{1,9}$/.test(text))
    return 'write a whole number that is not negative';
  if (spec.name === 'max-parallel' && Number(text) === 0) return 'write 1 or more';
  return spec.check?.(text);
}

export function wrongUsage(message: string, remedy: string): UserError {
  return new UserError('usage', message, remedy);
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
