/** What a step may do, and with what: whether a step that still runs may do more than is allowed now. */
import type { Run } from '../model/run.ts';
import { stricterMode } from '../parse/permissions.ts';
import type { Step } from '../ports.ts';

export interface Rules {
  readonly model: string | undefined;
  readonly permissionMode: string;
  readonly skipPermissions: boolean;
  readonly allowedTools: readonly string[];
  readonly disallowedTools: readonly string[];
  /** What else the agent is started with, to be compared. */
  readonly agentOptions: string;
  /** Of the whole run; 0 is unlimited. */
  readonly budgetUsd: number;
}

/** None for a script, which no setting limits. */
export function rulesOf({ settings }: Run, step: Step): Rules | undefined {
  if (step.kind === 'script') return undefined;
  const { model, permissionMode, skipPermissions, allowedTools, disallowedTools } = step;
  const { budgetUsd, mcpConfig, agentSettings, addDir, appendSystemPrompt, agentArgs } = settings;
  return {
    model,
    permissionMode,
    skipPermissions,
    allowedTools,
    disallowedTools,
    agentOptions: JSON.stringify([
      [mcpConfig, agentSettings, addDir],
      [appendSystemPrompt, agentArgs],
    ]),
    budgetUsd,
  };
}

/** Why a step that was begun under other rules must not go on under them; undefined when it may. */
export function loosened(was: Rules | undefined, now: Rules | undefined): string | undefined {
  if (!was || !now) return undefined;
  if (was.skipPermissions && !now.skipPermissions) return 'permissions are not skipped any more';
  if (
    !now.skipPermissions &&
    stricterMode(was.permissionMode, now.permissionMode) !== was.permissionMode
  )
    return `the permission mode is ${now.permissionMode}`;
  const isTaken = (tool: string) => !now.allowedTools.includes(tool);
  const isForbidden = (tool: string) => !was.disallowedTools.includes(tool);
  if (was.allowedTools.some(isTaken) || now.disallowedTools.some(isForbidden))
    return 'it may use fewer tools';
  if (was.agentOptions !== now.agentOptions) return 'the agent has other options';
  if (now.budgetUsd > 0 && (was.budgetUsd === 0 || now.budgetUsd < was.budgetUsd))
    return `the budget is $${now.budgetUsd.toFixed(2)}`;
  if (now.model !== undefined && now.model !== was.model) return `the model is ${now.model}`;
  return undefined;
}
