/** The folders of the user. They are outside of all projects, so no project can put files there. */
import { realpathSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { linkProblem, ownershipProblem } from '../../files/ownership.ts';
import { hasCode, makeFolder, realDisk } from '../../journal/disk.ts';
import { cureOf, reasonOf } from '../../journal/disk-errors.ts';
import { shellWord } from '../../model/shell-word.ts';
import { UserError } from '../../model/user-error.ts';

/** The user's config file and approvals. */
export function userConfigFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return join(folderIn(environment.XDG_CONFIG_HOME, '.config'), 'raymond');
}

/** Files that Raymond keeps for the user, such as the key. */
export function userStateFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return join(folderIn(environment.XDG_STATE_HOME, '.local/state'), 'raymond');
}

function folderIn(named: string | undefined, usual: string): string {
  return named !== undefined && isAbsolute(named) ? named : join(homeFolder(), usual);
}

/** The real path of the home folder. A user without a passwd entry and without HOME has none. */
export function homeFolder(): string {
  try {
    return realpathSync(homedir());
  } catch {
    return '/';
  }
}

/** Throws a UserError if others could have changed the file or folder. Follows links, because the user created them. */
export async function checkOwn(path: string): Promise<void> {
  const found = await stat(path).catch((error) => {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  });
  const problem = found && ownershipProblem(found);
  if (problem)
    throw new UserError(
      'user-folder',
      `Raymond does not use ${path}: ${problem}.`,
      `Make it writable only for you: chmod go-w ${shellWord(path)}`,
      { file: path },
    );
  const second = found?.isFile() ? linkProblem(path, () => statSync(path)) : undefined;
  if (second)
    throw new UserError(
      'user-folder',
      `Raymond does not use ${path}: ${second}.`,
      'Check its content, then replace it with a copy (cp it, mv it back).',
      { file: path },
    );
}

/** A folder of the user for files that Raymond writes. */
export async function makeOwnFolder(path: string): Promise<void> {
  await makeFolder(realDisk, path).catch((error) => {
    throw new UserError(
      'user-folder',
      `Raymond cannot create ${path}: ${reasonOf(error)}.`,
      `${cureOf(error)}, or name another folder.`,
      { file: path },
    );
  });
  await checkOwn(path);
}
