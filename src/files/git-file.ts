/** The files with which git connects a worktree and its repository, read without git. */
import { realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { readRegularFile } from './regular-file.ts';

/** The folder that a `.git` file names. Rejects if it names none. */
export async function namedByGitFile(git: string): Promise<string> {
  const named = /^gitdir: (.+)/.exec(await firstLine(git))?.[1] ?? '';
  return realpath(resolve(dirname(git), named));
}

/** The same; undefined unless that folder names the file in turn. */
export async function linkedFolder(git: string): Promise<string | undefined> {
  try {
    const folder = await namedByGitFile(git);
    const back = resolve(folder, await firstLine(join(folder, 'gitdir')));
    return (await realpath(back)) === (await realpath(git)) ? folder : undefined;
  } catch {
    return undefined;
  }
}

const LONGEST_LINE = 64 * 1024;

export async function firstLine(file: string): Promise<string> {
  const text = (await readRegularFile(file, LONGEST_LINE)).toString();
  return text.split(/\r?\n/, 1)[0] ?? '';
}
