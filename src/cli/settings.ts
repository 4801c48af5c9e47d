import { resolve } from 'node:path';
import { newRun } from '../interpret/new-run.ts';
import type { Choice, Choices } from '../model/agent.ts';
import type { Settings } from '../model/event.ts';
import { variableProblem } from '../parse/variables.ts';
import { type RunOptions, wrongUsage } from './options.ts';
import { agent } from './wire.ts';

/** The settings of a run: what the options say, over what held before. */
export function settingsFrom(
  options: RunOptions,
  base: Settings = newRun.settings,
  environment: NodeJS.ProcessEnv = process.env,
): Settings {
  const said = <T, U>(value: T | undefined, otherwise: U, as: (value: T) => U) =>
    value === undefined ? otherwise : as(value);
  const maxAgents = options.maxAgents ?? base.maxAgents;
  const maxDepth = options.maxDepth ?? base.maxDepth;
  const isRehearsal =
    base.rehearse === true || options.rehearse === true || options.rehearsal !== undefined;
  const rehearsalFile =
    options.rehearsal === undefined ? base.rehearsalFile : resolve(options.rehearsal);
  const retryPausesMs = retryPausesIn(environment) ?? base.retryPausesMs;
  return {
    budgetUsd: options.budget ?? base.budgetUsd,
    maxIterations: options.maxIterations ?? base.maxIterations,
    agent: agent.choose(saidOf(options), base.agent, process.cwd()),
    idleTimeoutMs: said(options.timeout, base.idleTimeoutMs, (seconds) =>
      Math.round(seconds * 1000),
    ),
    maxParallelPrompts: options.maxParallel ?? base.maxParallelPrompts,
    maxParallelScripts: options.maxParallel ?? base.maxParallelScripts,
    ...(maxAgents !== undefined && { maxAgents }),
    ...(maxDepth !== undefined && { maxDepth }),
    failFast: options.failFast ?? base.failFast,
    wait: options.wait ?? base.wait,
    warm: options.warm ?? base.warm,
    ...(isRehearsal && { rehearse: true }),
    ...((options.scripts ?? base.rehearseScripts) && { rehearseScripts: true }),
    ...(rehearsalFile !== undefined && { rehearsalFile }),
    ...(retryPausesMs !== undefined && { retryPausesMs }),
  };
}

/** What the options say of the agent. */
function saidOf(options: RunOptions): Choices {
  const { dangerouslySkipPermissions: skipPermissions, settings: agentSettings } = options;
  const { model, effort, permissionMode, allowedTools, disallowedTools } = options;
  const { mcpConfig, addDir, appendSystemPrompt, agentArgs } = options;
  const said = { model, effort, permissionMode, skipPermissions, allowedTools, disallowedTools };
  const more = { mcpConfig, agentSettings, addDir, appendSystemPrompt, agentArgs };
  return given({ ...said, ...more });
}

function given(said: Readonly<Record<string, Choice | undefined>>): Choices {
  const entries = Object.entries(said);
  return Object.fromEntries(
    entries.filter((entry): entry is [string, Choice] => entry[1] !== undefined),
  );
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
