import { resolve } from 'node:path';
import { newRun } from '../interpret/new-run.ts';
import type { Settings } from '../model/event.ts';
import { BYPASS } from '../parse/agent-names.ts';
import { isInlineJson } from '../parse/inline-json.ts';
import { splitTools } from '../parse/permissions.ts';
import { variableProblem } from '../parse/variables.ts';
import { type RunOptions, wrongUsage } from './options.ts';
import { readAgentArgs } from './wire.ts';

/** The settings of a run: what the options say, over what held before. */
export function settingsFrom(
  options: RunOptions,
  base: Settings = newRun.settings,
  environment: NodeJS.ProcessEnv = process.env,
): Settings {
  const said = <T, U>(value: T | undefined, otherwise: U, as: (value: T) => U) =>
    value === undefined ? otherwise : as(value);
  const model = options.model ?? base.model;
  const effort = options.effort ?? base.effort;
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
    ...(model !== undefined && { model }),
    ...(effort !== undefined && { effort }),
    idleTimeoutMs: said(options.timeout, base.idleTimeoutMs, (seconds) =>
      Math.round(seconds * 1000),
    ),
    ...permissionsFrom(options, base),
    ...agentSettingsFrom(options, base),
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

/** A run of an older Raymond may have kept the bypassing mode as a mode. */
function permissionsFrom(options: RunOptions, base: Settings) {
  const isBypassed = base.permissionMode === BYPASS;
  const mode = isBypassed ? newRun.settings.permissionMode : base.permissionMode;
  return {
    permissionMode: options.permissionMode ?? mode,
    skipPermissions: options.dangerouslySkipPermissions ?? (base.skipPermissions || isBypassed),
  };
}

/** Files and folders are seen from where Raymond is started, wherever its agents work later. */
function agentSettingsFrom(options: RunOptions, base: Settings): Partial<Settings> {
  const paths = (given: readonly string[] | undefined) =>
    given?.filter((path) => path !== '').map(absolute);
  const allowedTools = toolsFrom('allowed-tools', options.allowedTools) ?? base.allowedTools;
  const disallowedTools =
    toolsFrom('disallowed-tools', options.disallowedTools) ?? base.disallowedTools;
  const mcpConfig = paths(options.mcpConfig) ?? base.mcpConfig;
  const addDir = paths(options.addDir) ?? base.addDir;
  const agentSettings =
    options.settings === undefined ? base.agentSettings : absolute(options.settings || '{}');
  const appendSystemPrompt = options.appendSystemPrompt ?? base.appendSystemPrompt;
  const agentArgs =
    options.agentArgs === undefined
      ? base.agentArgs
      : readAgentArgs(options.agentArgs, process.cwd());
  return {
    ...(allowedTools?.length && { allowedTools }),
    ...(disallowedTools?.length && { disallowedTools }),
    ...(mcpConfig?.length && { mcpConfig }),
    ...(agentSettings !== undefined && agentSettings !== '{}' && { agentSettings }),
    ...(addDir?.length && { addDir }),
    ...(appendSystemPrompt && { appendSystemPrompt }),
    ...(agentArgs?.length && { agentArgs }),
  };
}

const absolute = (fileOrJson: string) =>
  isInlineJson(fileOrJson) ? fileOrJson : resolve(fileOrJson);

function toolsFrom(option: string, given: readonly string[] | undefined) {
  return given?.flatMap((text) => {
    const tools = splitTools(text);
    if (tools) return tools;
    throw wrongUsage(`--${option} is "${text}".`, 'Write rules like Read or "Bash(git log:*)".');
  });
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
