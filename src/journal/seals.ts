/**
 * Which runs the user started here. Journals can come with a project, like any other file. So a run
 * carries seals, made with the user's key: one for each choice that the user made for it, at its start
 * and at each resume. It is the user's own while it is what one of them says.
 */
import { UserError } from '../model/user-error.ts';
import { type Disk, readText, replaceFile } from './disk.ts';
import type { UserKey } from './user-key.ts';

export interface Seals {
  readonly disk: Disk;
  readonly file: string;
  readonly key: UserKey;
}

/** Before the choice is acted on. Gives why the key cannot be used, if it cannot. */
export async function addSeal(
  { disk, file, key }: Seals,
  chosen: string,
): Promise<UserError | undefined> {
  try {
    const seal = await key.seal(PURPOSE, chosen);
    const known = await readSeals(disk, file);
    if (!known.includes(seal))
      await replaceFile(disk, file, `${[...known, seal].slice(-MOST_SEALS).join('\n')}\n`);
    return undefined;
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
}

export async function hasSeal({ disk, file, key }: Seals, chosen: string): Promise<boolean> {
  try {
    for (const seal of await readSeals(disk, file))
      if (await key.isSealed(PURPOSE, chosen, seal)) return true;
    return false;
  } catch (error) {
    // Without a key of the user, nothing is sealed.
    if (error instanceof UserError) return false;
    throw error;
  }
}

const PURPOSE = 'run';
const MOST_SEALS = 500;
const MAX_BYTES = 64 * 1024;

async function readSeals(disk: Disk, file: string): Promise<readonly string[]> {
  const text = await readText(disk, file, MAX_BYTES).catch(() => undefined);
  return text?.split('\n').filter(Boolean) ?? [];
}
