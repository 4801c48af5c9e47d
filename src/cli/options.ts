/**
 * INV-26: Every option is in one table. The command line, the config files and the help come from
 * it.
 */
import {
  EFFORTS,
  isModel,
  MODELS,
  PERMISSION_MODES,
  STATE_MODES,
} from '../execute/claude/known-names.ts';
import { DEEPEST_STACK, MOST_AGENTS } from '../interpret/ceilings.ts';
import { newRun } from '../interpret/new-run.ts';
import { UserError } from '../model/user-error.ts';
import { nearest } from '../parse/nearest.ts';
import { readDuration } from '../parse/transition.ts';
import { agentVariableProblem } from '../parse/variables.ts';
import { leadsOut } from './leads-out.ts';

export type OptionSpec = {
  /** A switch is named by what holds when it is on: `--wait`, `--no-wait`, `wait = false`. */
  readonly name: string;
  readonly kind: 'flag' | 'number' | 'count' | 'text' | 'list';
  readonly placeholder?: string;
  /** A switch that is on unless somebody turns it off. */
  readonly isOn?: true;
  /** Of a switch: the meaning of the form that is not the default. */
  readonly meaning: string;
  /** As it is written in a config file. */
  readonly example: string;
  /** Names that Raymond knows. */
  readonly known?: readonly string[];
  readonly check?: (value: string) => string | undefined;
} & (
  | { readonly only: 'command-line' }
  | {
      readonly only?: 'config';
      /**
       * Whether the config file of a project may say this by itself. A project can come from
       * anybody: what runs programs, permits more, spends more or writes elsewhere needs the
       * user's trust. A function says for which values; the folder is the project's.
       */
      readonly inProject: 'harmless' | 'dangerous' | IsDangerous;
    }
);

export type IsDangerous = (value: unknown, folder: string) => boolean;

export const OPTIONS = [
  {
    name: 'budget',
    kind: 'number',
    placeholder: 'usd',
    meaning: 'stop when this much is spent; 0 is unlimited (default 10.00)',
    example: '10.0',
    inProject: (usd) => usd === 0 || Number(usd) > newRun.settings.budgetUsd,
  },
  {
    name: 'max-iterations',
    kind: 'count',
    placeholder: 'n',
    meaning: 'stop after this many steps; 0 is unlimited (default)',
    example: '100',
    inProject: 'harmless',
  },
  {
    name: 'model',
    kind: 'text',
    placeholder: 'name',
    meaning: 'model for states that name none: opus, sonnet, haiku or a full id',
    example: '"sonnet"',
    known: MODELS,
    check: modelProblem,
    inProject: 'harmless',
  },
  {
    name: 'effort',
    kind: 'text',
    placeholder: 'level',
    meaning: `effort for states that name none: ${EFFORTS.join(', ')}`,
    example: '"medium"',
    known: EFFORTS,
    check: (value) =>
      /^[A-Za-z][\w-]{0,31}$/.test(value) ? undefined : `name one of ${EFFORTS.join(', ')}`,
    inProject: 'harmless',
  },
  {
    name: 'timeout',
    kind: 'number',
    placeholder: 'seconds',
    meaning: 'stop a step that is silent for this long; 0 is never (default 600)',
    example: '600',
    inProject: 'harmless',
  },
  {
    name: 'input',
    kind: 'text',
    placeholder: 'text',
    meaning: 'value of {{input}} for the first state',
    example: '"..."',
    inProject: 'harmless',
  },
  {
    name: 'set',
    kind: 'list',
    placeholder: 'name=value',
    meaning: 'a variable for every prompt and script; may be repeated',
    example: '["issue=195"]',
    inProject: (pairs) => Array.isArray(pairs) && pairs.some(steersPrograms),
  },
  {
    name: 'workflow-id',
    kind: 'text',
    placeholder: 'id',
    meaning: 'id of the new run, instead of one that is made up',
    example: '""',
    only: 'command-line',
  },
  {
    name: 'permission-mode',
    kind: 'text',
    placeholder: 'mode',
    meaning: 'what the agent may do unasked (default acceptEdits)',
    example: '"acceptEdits"',
    known: PERMISSION_MODES,
    check: (value) =>
      /^[A-Za-z][\w-]{0,31}$/.test(value) ? undefined : 'name a mode such as acceptEdits or plan',
    inProject: (mode) => !STATE_MODES.includes(String(mode)),
  },
  {
    name: 'dangerously-skip-permissions',
    kind: 'flag',
    meaning: 'let the agent do anything, unasked: only where it can do no harm',
    example: 'false',
    inProject: (skip) => skip === true,
  },
  {
    name: 'allowed-tools',
    kind: 'list',
    placeholder: 'rules',
    meaning: 'what the agent may use unasked, beside what its state says; may be repeated',
    example: '["Bash(git log:*)"]',
    inProject: 'dangerous',
  },
  {
    name: 'disallowed-tools',
    kind: 'list',
    placeholder: 'rules',
    meaning: 'what the agent may not use, beside what its state says; may be repeated',
    example: '["WebFetch"]',
    inProject: 'harmless',
  },
  {
    name: 'mcp-config',
    kind: 'list',
    placeholder: 'file',
    meaning: 'MCP servers for the agent, from a JSON file; may be repeated',
    example: '["mcp.json"]',
    inProject: 'dangerous',
  },
  {
    name: 'settings',
    kind: 'text',
    placeholder: 'file-or-json',
    meaning: "settings for the agent; Raymond's own rules stay",
    example: '"agent.json"',
    check: argumentProblem,
    inProject: 'dangerous',
  },
  {
    name: 'add-dir',
    kind: 'list',
    placeholder: 'folder',
    meaning: 'a further folder that the agent may use; may be repeated',
    example: '["../library"]',
    inProject: 'dangerous',
  },
  {
    name: 'append-system-prompt',
    kind: 'text',
    placeholder: 'text',
    meaning: "what is added to the agent's system prompt",
    example: '"..."',
    check: argumentProblem,
    inProject: 'dangerous',
  },
  {
    name: 'agent-args',
    kind: 'text',
    placeholder: 'arguments',
    meaning:
      'further options for the agent, as one text; those that would disturb Raymond are refused',
    example: '"--strict-mcp-config"',
    check: argumentProblem,
    inProject: 'dangerous',
  },
  {
    name: 'max-parallel',
    kind: 'count',
    placeholder: 'n',
    meaning: 'at most this many prompts at a time (default 16), and as many scripts (default 256)',
    example: '16',
    inProject: 'harmless',
  },
  {
    name: 'max-agents',
    kind: 'count',
    placeholder: 'n',
    meaning: 'at most this many agents in the run, ended ones included (default 10000)',
    example: '10000',
    inProject: (most) => Number(most) > MOST_AGENTS,
  },
  {
    name: 'max-depth',
    kind: 'count',
    placeholder: 'n',
    meaning: 'calls and functions nest at most this deep (default 200)',
    example: '200',
    inProject: (most) => Number(most) > DEEPEST_STACK,
  },
  {
    name: 'fail-fast',
    kind: 'flag',
    meaning: 'stop the other agents as soon as one fails',
    example: 'false',
    inProject: 'harmless',
  },
  {
    name: 'wait',
    kind: 'flag',
    isOn: true,
    meaning: 'end instead of waiting for a usage limit or the deadline of a question',
    example: 'false',
    inProject: 'harmless',
  },
  {
    name: 'warm',
    kind: 'flag',
    isOn: true,
    meaning: 'start a new agent process for each prompt',
    example: 'false',
    inProject: 'harmless',
  },
  {
    name: 'rehearse',
    kind: 'flag',
    meaning: 'play the workflow without a model and without executing its scripts: costs nothing',
    example: 'false',
    only: 'command-line',
  },
  {
    name: 'rehearsal',
    kind: 'text',
    placeholder: 'file',
    meaning: 'rehearse with the answers of this file instead of rehearsal.yaml',
    example: '"..."',
    only: 'command-line',
  },
  {
    name: 'scripts',
    kind: 'flag',
    meaning: 'execute the scripts in a rehearsal, except those that have an answer',
    example: 'false',
    only: 'command-line',
  },
  {
    name: 'debug',
    kind: 'flag',
    isOn: true,
    meaning: 'do not keep what agents said in .raymond/debug',
    example: 'false',
    inProject: 'harmless',
  },
  {
    name: 'quiet',
    kind: 'flag',
    meaning: 'report warnings and failures only',
    example: 'false',
    inProject: 'harmless',
  },
  {
    name: 'verbose',
    kind: 'flag',
    meaning: 'show what agents say and do',
    example: 'false',
    inProject: 'harmless',
  },
  {
    name: 'plain',
    kind: 'flag',
    meaning: 'plain lines, without colour',
    example: 'false',
    inProject: 'harmless',
  },
  {
    name: 'json',
    kind: 'flag',
    meaning: 'print one JSON object per event on stdout',
    example: 'false',
    inProject: 'harmless',
  },
  {
    name: 'log-file',
    kind: 'text',
    placeholder: 'file',
    meaning: 'append the report to a file, too',
    example: '"raymond.log"',
    inProject: (file, folder) => leadsOut(String(file), folder),
  },
  {
    name: 'claude-path',
    kind: 'text',
    meaning: 'the claude executable, instead of what PATH finds; RAYMOND_CLAUDE wins over it',
    example: '"/usr/local/bin/claude"',
    only: 'config',
    inProject: 'dangerous',
  },
] as const satisfies readonly OptionSpec[];

type Spec = (typeof OPTIONS)[number];
type CamelCase<S extends string> = S extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;
type ValueOf<K extends OptionSpec['kind']> = K extends 'flag'
  ? boolean
  : K extends 'number' | 'count'
    ? number
    : K extends 'list'
      ? readonly string[]
      : string;

/** What somebody chose: on the command line, or in a config file. */
export type RunOptions = {
  readonly [S in Spec as CamelCase<S['name']>]?: ValueOf<S['kind']>;
};

export const RUN_OPTIONS: readonly OptionSpec[] = OPTIONS.filter(
  (spec: OptionSpec) => spec.only !== 'config',
);

export const CONFIG_OPTIONS = OPTIONS.filter((spec) => 'inProject' in spec);

export function camelCase(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** The form of an option that is shown: of a switch, the one that is not the default. */
export function shownName({ name, isOn }: OptionSpec): string {
  return isOn ? `no-${name}` : name;
}

/** The value of an option as written on the command line. */
export function readOption(spec: OptionSpec, text: string): number | string {
  const problem = optionProblem(spec, text);
  if (problem) throw wrongUsage(`--${spec.name} is "${text}".`, asRemedy(problem));
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
  if (AT_LEAST_ONE.has(spec.name) && Number(text) === 0) return 'write 1 or more';
  return spec.check?.(text);
}

const AT_LEAST_ONE = new Set(['max-parallel', 'max-agents', 'max-depth']);

/** What is wrong with a value, as a sentence, with an example if there is one. */
export function asRemedy(problem: string, example?: string): string {
  const text = problem.charAt(0).toUpperCase() + problem.slice(1);
  if (text.endsWith('?')) return text;
  return example === undefined ? `${text}.` : `${text}, like ${example}.`;
}

export function wrongUsage(message: string, remedy: string): UserError {
  return new UserError('usage', message, remedy);
}

/** By the rule for names that an agent chooses. */
function steersPrograms(pair: unknown): boolean {
  const [name = ''] = String(pair).split('=');
  return agentVariableProblem(name, new Set(Object.keys(process.env))) !== undefined;
}

/** The system limits what can be said to a program. */
function argumentProblem(text: string): string | undefined {
  if (text.includes('\0')) return 'leave out the character U+0000';
  return text.length > 60_000 ? 'write at most 60000 characters' : undefined;
}

function modelProblem(text: string): string | undefined {
  if (isModel(text)) return undefined;
  const meant = nearest(text, MODELS);
  return meant === undefined
    ? 'name opus, sonnet, haiku, or a full id that begins with claude-'
    : `did you mean ${meant}?`;
}
