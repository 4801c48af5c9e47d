/**
 * Which runs the user started here. Journals can come with a project, like any other file. So a run
 * carries seals, made with the user's key: one for each choice that the user made for it, at its start
 * and at each resume. It is the user's own while it is what one of them says.
 */
import { readText, replaceFile } from '../journal/disk.ts';
import type { RunPaths } from '../journal/project.ts';
import type { Settings } from '../model/event.ts';
import type { Run } from '../model/run.ts';
import { UserError } from '../model/user-error.ts';
import { disk, key } from './store.ts';

type Chosen = Pick<Run, 'id' | 'workflow' | 'cwd' | 'settings'>;

/** Before the choice is acted on. Gives what a person should know when the key cannot be used. */
export async function sealRun({ seals }: RunPaths, chosen: Chosen): Promise<readonly string[]> {
  try {
    const seal = await key.seal(PURPOSE, sealedText(chosen));
    const known = await readSeals(seals);
    if (!known.includes(seal))
      await replaceFile(disk, seals, `${[...known, seal].slice(-MOST_SEALS).join('\n')}\n`);
    return [];
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { message, remedy } = error;
    return [`${message} ${remedy}`, `${chosen.id} will not be recognised as yours at a resume.`];
  }
}

export async function isOwnRun({ seals }: RunPaths, run: Chosen): Promise<boolean> {
  try {
    for (const seal of await readSeals(seals))
      if (await key.isSealed(PURPOSE, sealedText(run), seal)) return true;
    return false;
  } catch (error) {
    // Without a key of the user, nothing is sealed.
    if (error instanceof UserError) return false;
    throw error;
  }
}

/** What is to be said of a run that is not. */
export const FOREIGN =
  'was not started by you here. It came with the project, or an older Raymond or another machine started it.';

/** Settings that anybody may choose for a run: they permit nothing. */
export const HARMLESS_SETTINGS = [
  'maxIterations',
  'model',
  'effort',
  'idleTimeoutMs',
  'maxParallelPrompts',
  'maxParallelScripts',
  'failFast',
  'wait',
  'warm',
  'rehearse',
  'retryPausesMs',
] as const satisfies readonly (keyof Settings)[];

const PURPOSE = 'run';
const MOST_SEALS = 500;
const MAX_BYTES = 64 * 1024;

/** Settings that are not known to be harmless are sealed, future ones included. */
function sealedText({ id, workflow, cwd, settings }: Chosen): string {
  const harmless: readonly string[] = HARMLESS_SETTINGS;
  const sealed = Object.entries(settings)
    .filter(([name, value]) => value !== undefined && !harmless.includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([id, workflow, cwd, sealed]);
}

async function readSeals(file: string): Promise<readonly string[]> {
  const text = await readText(disk, file, MAX_BYTES).catch(() => undefined);
  return text?.split('\n').filter(Boolean) ?? [];
}
