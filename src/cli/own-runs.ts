/**
 * Which runs the user started here. Journals can come with a project, like any other file. So a run
 * carries seals, made with the user's key: one for each choice that the user made for it, at its start
 * and at each resume. It is the user's own while it is what one of them says.
 */
import type { RunPaths } from '../journal/project.ts';
import { addSeal, hasSeal } from '../journal/seals.ts';
import type { Settings } from '../model/event.ts';
import type { ChosenRun } from '../ports.ts';
import { disk, key } from './store.ts';
import { agent } from './wire.ts';

/** Before the choice is acted on. Gives what a person should know when the key cannot be used. */
export async function sealRun({ seals }: RunPaths, chosen: ChosenRun): Promise<readonly string[]> {
  const unsealed = await addSeal({ disk, file: seals, key }, sealedText(chosen));
  if (!unsealed) return [];
  const { message, remedy } = unsealed;
  return [`${message} ${remedy}`, `${chosen.id} will not be recognised as yours at a resume.`];
}

export function isOwnRun({ seals }: RunPaths, run: ChosenRun): Promise<boolean> {
  return hasSeal({ disk, file: seals, key }, sealedText(run));
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
function sealedText({ id, workflow, cwd, settings }: ChosenRun): string {
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
