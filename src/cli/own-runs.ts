/** Which runs are the user's own: what of a run is sealed, and what is said of the others. */
import type { Settings } from '../model/event.ts';
import type { UserError } from '../model/user-error.ts';
import type { ChosenRun } from '../ports.ts';
import { agent } from './agent.ts';

/** What a person should know when the user's choice for a run could not be sealed. */
export function unsealedNotice(run: string, unsealed: UserError | undefined): readonly string[] {
  if (!unsealed) return [];
  const { message, remedy } = unsealed;
  return [`${message} ${remedy}`, `${run} will not be recognised as yours at a resume.`];
}

/** What is to be said of a run that is not. */
export const FOREIGN =
  'was not started by you here. It came with the project, or an older Raymond or another machine started it.';

/** Settings that anybody may choose for a run: they permit nothing. */
export const HARMLESS_SETTINGS = [
  'maxIterations',
  'idleTimeoutMs',
  'maxParallelPrompts',
  'maxParallelScripts',
  'failFast',
  'wait',
  'warm',
  'rehearse',
  'retryPausesMs',
] as const satisfies readonly (keyof Settings)[];

/** Settings that are not known to be harmless are sealed, future ones included. */
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
