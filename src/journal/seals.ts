/**
 * Shows which runs the user started here. A project can contain journals of others. So each start and
 * each resume adds a seal over the user's choices, made with the user's key. A run is the user's own if
 * one of its seals matches it.
 */
import { UserError } from '../model/user-error.ts';
import { type Disk, readText, replaceFile } from './disk.ts';
import type { UserKey } from './user-key.ts';

export interface Seals {
  readonly disk: Disk;
  readonly file: string;
  readonly key: UserKey;
}

/** Called before the choice takes effect. Gives an error if the key cannot be used. */
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
    // Without a key of the user, no seal is valid.
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
