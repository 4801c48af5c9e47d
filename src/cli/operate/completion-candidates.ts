/** The words that can complete a command line. Finding them reads names and executes nothing. */

import { resolve } from 'node:path';
import type { Command, Option } from 'commander';
import { allRuns, runToSee, statusOf } from '../../app/find-run.ts';
import { openRun } from '../../host/open-run.ts';
import { findWorkflows } from '../../load/find-workflows.ts';
import { AbandonedSteps } from '../../model/abandoned-steps.ts';
import { CONDITIONS, isCompleted } from '../../model/condition.ts';
import type { RunEventOf } from '../../model/event.ts';
import type { RunSummary } from '../../model/run-summary.ts';
import { TRANSITION_TAGS } from '../../model/tag.ts';
import { asksPermission, waitsForPerson } from '../../model/tally.ts';
import { oneLine } from '../../observe/words.ts';
import { stemOf } from '../../parse/state.ts';
import type { StoredRun } from '../../ports.ts';
import { COMMAND_LINE_OPTIONS } from '../../world/config/option-table.ts';
import type { Here } from '../../world/surroundings.ts';
import { TEMPLATES } from '../author/init.ts';
import { isNamed, optionNamed } from '../named-command.ts';
import { COMPLETION_SCRIPTS } from './completion-scripts.ts';

export interface Candidate {
  readonly value: string;
  readonly about?: string;
}

/** Completions of the last word. */
export async function candidates(
  here: Here,
  program: Command,
  words: readonly string[],
): Promise<readonly Candidate[]> {
  const typed = readWords(program, words);
  const { prefix, current } = typed;
  const found = await candidatesFor(here, typed).catch(() => []);
  return found
    .filter(({ value }) => value.startsWith(current) && isPlain(value))
    .map(({ value, about }) => ({
      value: `${prefix}${value}`,
      ...(about && { about: oneLine(about, 60) }),
    }));
}

/** A line is one candidate, so a name with a line break or a tab cannot be offered. */
function isPlain(value: string): boolean {
  return !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u{fffd}]/u.test(value);
}

interface Typed {
  readonly program: Command;
  /** The command that the line names; undefined if none is named yet. */
  readonly named: Command | undefined;
  readonly command: Command;
  /** The option that needs the current word as its value. */
  readonly option: Option | undefined;
  /** The arguments of the command before the current word. */
  readonly given: readonly string[];
  readonly current: string;
  /** The part of the current word that is complete: `--model=`. */
  readonly prefix: string;
}

function readWords(program: Command, words: readonly string[]): Typed {
  // Bash makes three words of `--model=sonnet`.
  const joined = words.filter((word, at) => word !== '=' || at === words.length - 1);
  const last = joined.at(-1) ?? '';
  const visible = program.createHelp().visibleCommands(program);
  const named = joined.length > 1 ? visible.find(isNamed(joined[0])) : undefined;
  const command = named ?? visible.find(isNamed('run')) ?? program;
  const before = joined.slice(named ? 1 : 0, -1);
  const given: string[] = [];
  let option: Option | undefined;
  for (const word of before) {
    if (option) option = undefined;
    else if (optionNamed(command, word)?.required) option = optionNamed(command, word);
    else if (!word.startsWith('-')) given.push(word);
  }
  const [, name, value] = /^(--[^=]+)=(.*)$/s.exec(last) ?? [];
  const ownOption = optionNamed(command, name);
  const base = { program, named, command, given };
  if (ownOption?.required)
    return { ...base, option: ownOption, current: value ?? '', prefix: `${name}=` };
  return { ...base, option, current: last === '=' ? '' : last, prefix: '' };
}

async function candidatesFor(here: Here, typed: Typed): Promise<readonly Candidate[]> {
  const { program, named, command, option, current, given } = typed;
  if (option) return optionValues(here, typed, option);
  if (current.startsWith('-')) return optionCandidates(command, ...(named ? [] : [program]));
  if (named) return argumentValues(here, named.name(), typed);
  if (given.length > 0) return [];
  const commands = program.createHelp().visibleCommands(program);
  return [
    ...commands.map((one) => ({ value: one.name(), about: one.description() })),
    ...(await workflows(here, current)),
  ];
}

function optionCandidates(...commands: readonly Command[]): readonly Candidate[] {
  const options = commands.flatMap((command) =>
    command.options.flatMap(({ long, description }) =>
      long ? [{ value: long, about: description }] : [],
    ),
  );
  return [...options, { value: '--help', about: 'display help for command' }];
}

const plain = (values: readonly string[]) => values.map((value) => ({ value }));

async function optionValues(
  here: Here,
  typed: Typed,
  { long }: Option,
): Promise<readonly Candidate[]> {
  switch (long) {
    case '--record':
    case '--run':
    case '--add-case':
      return runs(here);
    case '--agent':
      return TAKES_A_RUN.has(typed.command.name()) ? agents(here, typed) : agentNames(here);
    case '--to':
      return steps(here, typed);
    case '--status':
      return plain(CONDITIONS);
    case '--level':
      return plain(['error', 'warning', 'note']);
    default:
      return plain(COMMAND_LINE_OPTIONS.find(({ name }) => `--${name}` === long)?.known ?? []);
  }
}

async function argumentValues(
  here: Here,
  command: string,
  { current, given }: Typed,
): Promise<readonly Candidate[]> {
  const isFirst = given.length === 0;
  if (command === 'prune') return runs(here);
  if (!isFirst) return [];
  switch (command) {
    case 'run':
    case 'lint':
    case 'check':
    case 'bound':
    case 'diagram':
    case 'test':
    case 'eval':
    case 'convert':
    case 'skill':
      return workflows(here, current);
    case 'answer':
      return runs(here, ({ run }) => waitsForPerson(run.tally) > 0);
    case 'stop':
      return runs(here, ({ owner }) => owner !== undefined);
    case 'resume':
      return runs(here, ({ owner, run }) => owner === undefined && !isCompleted(run));
    case 'rewind':
    case 'try':
      return runs(here, ({ owner }) => owner === undefined);
    case 'show':
    case 'logs':
    case 'watch':
      return runs(here);
    case 'update':
      return workflows(here, current);
    case 'init':
      return plain([...TEMPLATES.keys()]);
    case 'tag':
      return plain(TRANSITION_TAGS);
    case 'completion':
      return plain([...COMPLETION_SCRIPTS.keys()]);
    case 'config':
      return plain(['trust']);
    default:
      return [];
  }
}

/** The runs that fit, or all if none fits, with their status. */
async function runs(
  here: Here,
  fits: (found: StoredRun<RunSummary>) => boolean = () => true,
): Promise<readonly Candidate[]> {
  const all = await allRuns((await here()).store);
  const some = all.filter((found) => found.kind === 'damaged' || fits(found));
  return (some.length > 0 ? some : all).map((found) => ({
    value: found.id,
    about: statusOf(found),
  }));
}

/** For these commands, `--agent` means an agent of a run. Others take the name of a coding agent. */
const TAKES_A_RUN: ReadonlySet<string> = new Set(['answer', 'logs']);

/** The coding agents that take prompts. */
async function agentNames(here: Here): Promise<readonly Candidate[]> {
  const { optionsForReading } = await import('../../world/config/configuration.ts');
  const { agentsWith } = await import('../../execute/agents/agents.ts');
  return plain(agentsWith((await optionsForReading(here)).agents).all.map(({ name }) => name));
}

/** The agents of the run that the line names: those with a question, or all. */
async function agents(here: Here, { named, given: [name] }: Typed): Promise<readonly Candidate[]> {
  const { store } = await here();
  const isAnswer = named?.name() === 'answer';
  const id = await runToSee(store, name, ({ run }) => !isAnswer || waitsForPerson(run.tally) > 0);
  const { run } = await openRun(store, id);
  const live = [...run.agents].map(([value, { state, status }]) => ({ value, state, status }));
  const asking = live.filter(
    ({ status }) => !isAnswer || status.kind === 'asking' || asksPermission(status),
  );
  const ended = isAnswer
    ? []
    : [...run.endedAgents].map(([value, { state }]) => ({ value, state }));
  return [...asking, ...ended].map(({ value, state }) => ({ value, about: state }));
}

/** The steps of the run that the line names, the newest first. Abandoned steps are no targets. */
async function steps(here: Here, { given: [name] }: Typed): Promise<readonly Candidate[]> {
  const { store } = await here();
  const started: RunEventOf<'step-started'>[] = [];
  const abandoned = new AbandonedSteps();
  await openRun(store, await runToSee(store, name), (event) => {
    abandoned.follow(event, event.seq);
    if (event.type === 'step-started') started.push(event);
  });
  return started
    .filter(({ agent, step }) => !abandoned.has(agent, step))
    .map(({ agent, step, state }) => ({ value: `${agent}:${step}`, about: state }))
    .toReversed();
}

/** Workflows below the working directory, and the states of the one that the word names. */
async function workflows(here: Here, current: string): Promise<readonly Candidate[]> {
  const { cwd } = await here();
  const slash = current.lastIndexOf('/');
  const folder = current.slice(0, slash + 1);
  const states = slash > 0 ? await statesOf(here, current.slice(0, slash)) : [];
  if (states.length > 0)
    return states.map((value) => ({ value: `${folder}${value}`, about: 'state' }));
  const found = await findWorkflows(resolve(cwd, folder));
  return found.map((value) => ({ value: `${folder}${value}`, about: 'workflow' }));
}

async function statesOf(here: Here, path: string): Promise<readonly string[]> {
  // A user waits for the completion, and few words need this.
  const { configuredLibrary } = await import('../../world/wire.ts');
  const workflow = await configuredLibrary(here)
    .then((library) => library.load(path))
    .catch(() => undefined);
  return workflow ? [...workflow.states.keys()].map(stemOf) : [];
}
