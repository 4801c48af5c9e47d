/** Which runs are the user's own: what a seal covers, and the notices about other runs. */
import type { Settings } from '../model/event.ts';
import type { UserError } from '../model/user-error.ts';
import type { ChosenRun, Doubt } from '../ports.ts';
import { agent } from './agent.ts';

/** A warning for the user when the choices for a run could not be sealed. */
export function unsealedNotice(run: string, unsealed: UserError | undefined): readonly string[] {
  if (!unsealed) return [];
  const { message, remedy } = unsealed;
  return [`${message} ${remedy}`, `Raymond will not recognise ${run} as yours at a resume.`];
}

/** What a user should know about a run of another user or machine. `doubt` gives the reason, if known. */
export function notYours(run: string, doubt: Doubt | undefined): string {
  const why = doubt?.why ?? 'It came with the project, or another machine started it.';
  return `${run} was not started by you here, or has changed since. ${why}`;
}

/** Settings that need no seal, because they permit nothing. */
export const HARMLESS_SETTINGS = [
  'maxIterations',
  'idleTimeoutMs',
  'maxParallelPrompts',
  'maxParallelScripts',
  'failFast',
  'wait',
  'warm',
  'checkpoints',
  'rehearse',
  'retryPausesMs',
  'askPermissions',
] as const satisfies readonly (keyof Settings)[];

/** The seal covers all settings that are not known to be harmless, including future ones. */
export function sealedText({ id, workflow, cwd, settings }: ChosenRun): string {
  const { agent: choices, ...others } = settings;
  const harmless = agent.choices.flatMap(({ name, isHarmless }) => (isHarmless ? [name] : []));
  const sealed = [...without(others, HARMLESS_SETTINGS), ...without(choices, harmless)];
  return JSON.stringify([id, workflow, cwd, sealed]);
}

function without(values: object, names: readonly string[]): readonly [string, unknown][] {
  return Object.entries(values)
    .filter(([name, value]) => value !== undefined && !names.includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
