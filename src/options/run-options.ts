/**
 * INV-26: Every option is in one table. The command line, the config files and the help come from
 * it.
 *
 * This file has the options that are the same for every agent. The declaration of an agent adds its
 * own options.
 */
import { DEEPEST_STACK, MOST_AGENTS } from '../interpret/ceilings.ts';
import { newRun } from '../interpret/new-run.ts';
import type { Choices } from '../model/agent.ts';
import type { ConfiguredAgents } from '../model/configured-agent.ts';
import { MOST_FILES_MIB } from '../model/kept-file.ts';
import type { OptionSpec } from '../model/option.ts';
import { agentVariableProblem } from '../parse/variables.ts';
import { leadsOut } from './leads-out.ts';

/** The default lifetime of answer codes. */
export const DAY_SECONDS = 86_400;

export const RUN_OPTIONS = [
  {
    name: 'budget',
    setting: 'budgetUsd',
    kind: 'number',
    placeholder: 'usd',
    meaning: 'stop when this much is spent; 0 is unlimited (default 10.00)',
    example: '10.0',
    inProject: (usd) => usd === 0 || Number(usd) > newRun.settings.budgetUsd,
    inTests: true,
  },
  {
    name: 'confirm-above',
    kind: 'number',
    placeholder: 'usd',
    meaning: 'ask before a start that could cost more than this; 0 is never (default)',
    example: '5.0',
    // It could replace a lower amount of the user.
    inProject: 'dangerous',
    onlyAtStart: true,
  },
  {
    name: 'max-iterations',
    setting: 'maxIterations',
    kind: 'count',
    placeholder: 'n',
    meaning: 'stop after this many starts of states; 0 is unlimited (default)',
    example: '100',
    inProject: 'harmless',
    inTests: true,
  },
  {
    name: 'timeout',
    setting: 'idleTimeoutMs',
    kind: 'number',
    placeholder: 'seconds',
    meaning: 'stop a step that is silent for this long; 0 is never (default 600)',
    example: '600',
    inProject: 'harmless',
    inTests: true,
    isDuration: true,
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
    onlyAtStart: true,
  },
  {
    name: 'workflow-id',
    kind: 'text',
    placeholder: 'id',
    meaning: 'id of the new run (default: generated)',
    example: '""',
    only: 'command-line',
    onlyAtStart: true,
  },
  {
    name: 'max-parallel',
    setting: 'maxParallelPrompts',
    kind: 'count',
    placeholder: 'n',
    meaning: 'at most this many prompts (default 16) and this many scripts (default 256) at a time',
    example: '16',
    inProject: 'harmless',
    inTests: true,
    isPositive: true,
  },
  {
    name: 'max-agents',
    setting: 'maxAgents',
    kind: 'count',
    placeholder: 'n',
    meaning: 'at most this many agents in the run, including ended ones (default 10000)',
    example: '10000',
    inProject: (most) => Number(most) > MOST_AGENTS,
    isPositive: true,
  },
  {
    name: 'max-depth',
    setting: 'maxDepth',
    kind: 'count',
    placeholder: 'n',
    meaning: 'calls and functions nest at most this deep (default 200)',
    example: '200',
    inProject: (most) => Number(most) > DEEPEST_STACK,
    isPositive: true,
  },
  {
    name: 'max-files-mib',
    setting: 'maxFilesMib',
    kind: 'count',
    placeholder: 'n',
    meaning: 'the files of a question, or of an answer, have at most this size (default 20)',
    example: '20',
    inProject: (most) => Number(most) > MOST_FILES_MIB,
    isPositive: true,
  },
  {
    name: 'ask-permissions',
    setting: 'askPermissions',
    kind: 'flag',
    meaning: 'let a person decide about tool calls that the agent may not make on its own',
    example: 'false',
    inProject: 'harmless',
  },
  {
    name: 'rights',
    setting: 'rights',
    kind: 'list',
    placeholder: 'map',
    meaning:
      'what all steps may touch, as in front matter, like "{ write: [src], network: none }"; --no-rights lifts all rights',
    example: '["{ network: none }"]',
    canBeOff: true,
    inProject: 'harmless',
  },
  {
    name: 'learn-rights',
    setting: 'learnRights',
    kind: 'flag',
    meaning: 'record what each state changes and reaches, and print the rights that it needs',
    example: 'false',
    only: 'command-line',
    onlyAtStart: true,
  },
  {
    name: 'fail-fast',
    setting: 'failFast',
    kind: 'flag',
    meaning: 'stop the other agents as soon as one fails',
    example: 'false',
    inProject: 'harmless',
    inTests: true,
  },
  {
    name: 'wait',
    setting: 'wait',
    kind: 'flag',
    isOn: true,
    meaning: 'end instead of waiting for a usage limit or the deadline of a question',
    example: 'false',
    inProject: 'harmless',
    inTests: true,
  },
  {
    name: 'warm',
    setting: 'warm',
    kind: 'flag',
    isOn: true,
    meaning: 'start a new agent process for each prompt',
    example: 'false',
    inProject: 'harmless',
    inTests: true,
  },
  {
    name: 'checkpoints',
    setting: 'checkpoints',
    kind: 'text',
    placeholder: 'which',
    meaning:
      'record files for a rewind around prompts (default), around all steps (steps) or never (none)',
    example: '"prompts"',
    inProject: 'harmless',
  },
  {
    name: 'lint',
    kind: 'flag',
    isOn: true,
    meaning: 'start although lint finds errors in the workflow',
    example: 'false',
    inProject: 'harmless',
  },
  {
    name: 'rehearse',
    setting: 'rehearse',
    kind: 'flag',
    meaning: 'play the workflow without an agent and without executing its scripts: costs nothing',
    example: 'false',
    only: 'command-line',
    inTests: true,
    onlyAtStart: true,
  },
  {
    name: 'rehearsal',
    setting: 'rehearsalFile',
    kind: 'text',
    placeholder: 'file',
    meaning: 'rehearse with the answers of this file instead of rehearsal.yaml',
    example: '"..."',
    only: 'command-line',
    onlyAtStart: true,
  },
  {
    name: 'scripts',
    setting: 'rehearseScripts',
    kind: 'flag',
    meaning: 'execute the scripts in a rehearsal, except those that have an answer',
    example: 'false',
    only: 'command-line',
    onlyAtStart: true,
  },
  {
    name: 'detach',
    kind: 'flag',
    meaning: 'work on the run in a background process and print its id',
    example: 'false',
    only: 'command-line',
  },
  {
    name: 'debug',
    kind: 'flag',
    isOn: true,
    meaning: 'do not keep the output of agents in .raymond/debug',
    example: 'false',
    inProject: 'harmless',
  },
  {
    name: 'quiet',
    kind: 'flag',
    meaning: 'report warnings and failures only',
    example: 'false',
    excludes: ['verbose'],
    inProject: 'harmless',
  },
  {
    name: 'verbose',
    kind: 'flag',
    meaning: 'show what agents say and do',
    example: 'false',
    excludes: ['quiet'],
    inProject: 'harmless',
  },
  {
    name: 'plain',
    kind: 'flag',
    meaning: 'plain lines, without colour',
    example: 'false',
    excludes: ['json'],
    inProject: 'harmless',
  },
  {
    name: 'json',
    kind: 'flag',
    meaning: 'print one JSON object per event on stdout',
    example: 'false',
    excludes: ['plain'],
    inProject: 'harmless',
  },
  {
    name: 'notify',
    kind: 'flag',
    meaning:
      'ring the bell and show a notification for questions, permission requests, denials, failures, limits and the end',
    example: 'false',
    inProject: 'harmless',
  },
  {
    name: 'on-event',
    kind: 'text',
    meaning: 'a command that gets the same events as JSON on its standard input',
    example: '"cat >>events.jsonl"',
    only: 'config',
    inProject: 'dangerous',
  },
  {
    name: 'code-lifetime',
    kind: 'number',
    placeholder: 'seconds',
    meaning:
      'how long the answer codes that the command of on_event gets can be used; 0 gives it none (default 24h)',
    example: '86400',
    only: 'config',
    inProject: (seconds) => Number(seconds) > DAY_SECONDS,
    isDuration: true,
  },
  {
    name: 'answers-secret',
    kind: 'text',
    placeholder: 'name',
    meaning: 'the secret that signs answer codes sent to /answers of raymond up; only in your file',
    example: '"ANSWERS"',
    only: 'config',
    inProject: 'dangerous',
  },
  {
    name: 'database',
    kind: 'text',
    placeholder: 'url',
    meaning:
      'keep runs in this PostgreSQL database, where workers execute them; "none" means files (default)',
    example: '"postgres://user@host:5432/name"',
    inProject: 'dangerous',
    isSecret: true,
  },
  {
    name: 'remote',
    kind: 'text',
    placeholder: 'name or url',
    meaning:
      'in a database: let the files of the run travel between machines through this git remote',
    example: '"origin"',
    excludes: ['shared-directory'],
    inProject: 'dangerous',
    isSecret: true,
    onlyAtStart: true,
  },
  {
    name: 'shared-directory',
    kind: 'flag',
    meaning: 'in a database: all workers have this directory at the same path',
    example: 'false',
    excludes: ['remote'],
    inProject: 'harmless',
    onlyAtStart: true,
  },
  {
    name: 'log-file',
    kind: 'text',
    placeholder: 'file',
    meaning: 'also append the report to a file',
    example: '"raymond.log"',
    inProject: (file, folder) => leadsOut(String(file), folder),
    path: 'file',
  },
] as const satisfies readonly OptionSpec[];

type Spec = (typeof RUN_OPTIONS)[number];
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

/** The options that the command line or a config file sets. */
export type RunOptions = {
  readonly [S in Spec as CamelCase<S['name']>]?: S extends { canBeOff: true }
    ? ValueOf<S['kind']> | false
    : ValueOf<S['kind']>;
} & {
  /** The choices for the agent, by the names in its declaration. */
  readonly agent?: Choices;
  /** The agents that config files add or price. Only config files have them. */
  readonly agents?: ConfiguredAgents;
};

/** Follows the rule for names that an agent chooses. */
function steersPrograms(pair: unknown): boolean {
  const [name = ''] = String(pair).split('=');
  return (
    agentVariableProblem(
      name,
      new Set(Object.keys(process.env).map((one) => one.toLowerCase())),
    ) !== undefined
  );
}
