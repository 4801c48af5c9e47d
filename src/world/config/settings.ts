import { resolve } from 'node:path';
import { newRun } from '../../interpret/new-run.ts';
import type { Choices } from '../../model/agent.ts';
import type { Settings } from '../../model/event.ts';
import { seenFrom } from '../../options/chosen-options.ts';
import type { RunOptions } from '../../options/run-options.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { rightsIn } from '../../parse/rights.ts';
import { variableProblem } from '../../parse/variables.ts';
import { agent } from '../agent.ts';
import { OPTIONS } from './option-table.ts';

/** The settings of a run: the options, on top of the settings so far. */
export function settingsFrom(
  options: RunOptions,
  base: Settings = newRun.settings,
  environment: NodeJS.ProcessEnv = process.env,
): Settings {
  const said = seenFrom(process.cwd(), options, OPTIONS);
  const maxAgents = options.maxAgents ?? base.maxAgents;
  const maxDepth = options.maxDepth ?? base.maxDepth;
  const maxFilesMib = options.maxFilesMib ?? base.maxFilesMib;
  const isRehearsal =
    base.rehearse === true || options.rehearse === true || options.rehearsal !== undefined;
  const rehearsalFile =
    options.rehearsal === undefined ? base.rehearsalFile : resolve(options.rehearsal);
  const retryPausesMs = retryPausesIn(environment) ?? base.retryPausesMs;
  return {
    budgetUsd: options.budget ?? base.budgetUsd,
    maxIterations: options.maxIterations ?? base.maxIterations,
    agent: agent.choose(withoutPrograms(said.agent), base.agent, process.cwd()),
    idleTimeoutMs:
      options.timeout === undefined ? base.idleTimeoutMs : Math.round(options.timeout * 1000),
    maxParallelPrompts: options.maxParallel ?? base.maxParallelPrompts,
    maxParallelScripts: options.maxParallel ?? base.maxParallelScripts,
    ...(maxAgents !== undefined && { maxAgents }),
    ...(maxDepth !== undefined && { maxDepth }),
    ...(maxFilesMib !== undefined && { maxFilesMib }),
    failFast: options.failFast ?? base.failFast,
    wait: options.wait ?? base.wait,
    warm: options.warm ?? base.warm,
    ...checkpointsFrom(options.checkpoints ?? base.checkpoints),
    ...(isRehearsal && { rehearse: true }),
    ...((options.scripts ?? base.rehearseScripts) && { rehearseScripts: true }),
    ...(rehearsalFile !== undefined && { rehearsalFile }),
    ...(retryPausesMs !== undefined && { retryPausesMs }),
    ...((options.askPermissions ?? base.askPermissions) && { askPermissions: true }),
    ...(base.granted && { granted: base.granted }),
    ...rightsFrom(options.rights, base.rights),
    ...((options.learnRights ?? base.learnRights) && { learnRights: true }),
  };
}

/** A resume may narrow the rights of a run. Only `--no-rights` widens them. */
function rightsFrom(
  given: RunOptions['rights'],
  before: Settings['rights'],
): Pick<Settings, 'rights'> {
  if (given === false) return { rights: 'off' };
  if (given === undefined) return before === undefined ? {} : { rights: before };
  const levels = given.map((text) => {
    const read = rightsIn(text);
    if (typeof read !== 'string') return read;
    throw wrongUsage(`The rights "${text}" cannot be read.`, read);
  });
  const all = [...(before === 'off' || before === undefined ? [] : before), ...levels];
  const byText = new Map(all.map((level) => [JSON.stringify(level), level]));
  return { rights: [...byText.values()] };
}

function checkpointsFrom(which: string | undefined): Pick<Settings, 'checkpoints'> {
  if (which === undefined) return {};
  const found = CHECKPOINTS.find((one) => one === which);
  if (found !== undefined) return { checkpoints: found };
  throw wrongUsage(`--checkpoints is "${which}".`, `Write one of ${CHECKPOINTS.join(', ')}.`);
}

const CHECKPOINTS = [
  'prompts',
  'steps',
  'none',
] as const satisfies readonly Settings['checkpoints'][];

/** The path of a program belongs to the machine, not to the run. */
function withoutPrograms(choices: Choices = {}): Choices {
  const isProgram = (name: string) =>
    OPTIONS.some(({ choice, path }) => choice === name && path === 'program');
  return Object.fromEntries(Object.entries(choices).filter(([name]) => !isProgram(name)));
}

/** For tests of Raymond, which cannot wait as long as a service needs to recover. */
function retryPausesIn({ RAYMOND_RETRY_PAUSES_MS: pauses }: NodeJS.ProcessEnv) {
  if (pauses === undefined || !/^\d{1,9}(,\d{1,9})*$/.test(pauses)) return undefined;
  return pauses.split(',').map(Number);
}

/** `--set name=value`, each. */
export function metadataFrom(pairs: readonly string[]): Readonly<Record<string, string>> {
  const metadata: Record<string, string> = {};
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    if (equals < 1) throw wrongUsage(`--set is "${pair}".`, 'Write it as name=value.');
    const name = pair.slice(0, equals);
    const problem = variableProblem(name);
    if (problem) throw wrongUsage(`--set: ${problem}.`, 'Write it as name=value.');
    metadata[name] = pair.slice(equals + 1);
  }
  return metadata;
}
