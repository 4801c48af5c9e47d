/** The folders of the user, outside of any project: nothing that comes with a project can be in them. */
import { realpathSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { ownershipProblem } from '../files/ownership.ts';
import { hasCode, makeFolder, realDisk } from '../journal/disk.ts';
import { shellWord } from '../model/shell-word.ts';
import { UserError } from '../model/user-error.ts';

/** What a person writes, and what a person approved. */
export function userConfigFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return join(folderIn(environment.XDG_CONFIG_HOME, '.config'), 'raymond');
}

/** What Raymond keeps for the user, and nobody needs to see. */
export function userStateFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return join(folderIn(environment.XDG_STATE_HOME, '.local/state'), 'raymond');
}

function folderIn(named: string | undefined, usual: string): string {
  return named !== undefined && isAbsolute(named) ? named : join(homeFolder(), usual);
}

/** Its real path, as far as it is known. A user without an entry and without HOME has none. */
export function homeFolder(): string {
  try {
    return realpathSync(homedir());
  } catch {
    return '/';
  }
}

/** Throws a UserError when others could have changed what is there. Links are the user's own. */
export async function checkOwn(path: string): Promise<void> {
  const found = await stat(path).catch((error) => {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  });
  const problem = found && ownershipProblem(found);
  if (problem)
    throw new UserError(
      'user-folder',
      `${path} is not used: ${problem}.`,
      `Make it yours alone: chmod go-w ${shellWord(path)}`,
    );
}

/** A folder of the user for files that Raymond writes. */
export async function makeOwnFolder(path: string): Promise<void> {
  await makeFolder(realDisk, path);
  await checkOwn(path);
}
