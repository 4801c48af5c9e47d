/** Limits the guesses at answer codes. Each wrong code adds one byte to a file of the hour, so that none is lost. */
import { appendFile, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../journal/disk.ts';
import { UserError } from '../model/user-error.ts';
import { makeOwnFolder, userStateFolder } from './config/user-folders.ts';

const MOST_WRONG_CODES = 20;
const HOUR = 3_600_000;

const folder = () => join(userStateFolder(), 'wrong-codes');
const hourOf = (now: number) => String(Math.floor(now / HOUR));

/** Throws a UserError after too many wrong codes in this hour. */
export async function refuseGuessing(now: number): Promise<void> {
  const { size } = await stat(join(folder(), hourOf(now))).catch((error) => {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return { size: 0 };
    throw error;
  });
  if (size < MOST_WRONG_CODES) return;
  throw new UserError(
    'too-many-codes',
    `There were ${MOST_WRONG_CODES} wrong codes in this hour. Raymond takes no code until the next one.`,
    'Answer without a code: raymond inbox',
  );
}

export async function countWrongCode(now: number): Promise<void> {
  await makeOwnFolder(folder());
  const hour = hourOf(now);
  await appendFile(join(folder(), hour), '.', { mode: 0o600 });
  for (const name of await readdir(folder()))
    if (name !== hour) await rm(join(folder(), name), { force: true });
}
