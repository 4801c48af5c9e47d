/** The content of a working tree as one name, so that two moments can be compared. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat, readdir, readlink, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { readRegularFile } from '../../files/regular-file.ts';
import { withParents } from '../../files/walk.ts';
import { type GitFolders, gitFolders, runGit } from './run-git.ts';
import { inScratch, NO_CONFIG } from './scratch-repository.ts';
import { addChanges, statusOf, writeTree } from './working-index.ts';

/** Stands for a value and for the content of the working tree that contains a directory. */
export async function entryDigest(input: string | undefined, directory: string): Promise<string> {
  const content = await treeContent(directory);
  return createHash('sha256')
    .update(JSON.stringify([input ?? null, content]))
    .digest('hex');
}

/**
 * In a git repository: all files that git does not ignore, also those of repositories in it. Elsewhere: all
 * files of the directory. Rejects if there are too many, or if one cannot be read.
 *
 * A rehearsal looks at trees of strangers, so this executes nothing. Git never reads the configuration of a
 * repository here, neither that of the user: both can name programs. It never enters a nested repository.
 */
export async function treeContent(directory: string, depth = 0): Promise<string> {
  // Not `--show-toplevel`: a repository can name any folder as its tree.
  const top = withParents(resolve(directory)).find((folder) => existsSync(join(folder, '.git')));
  const folders = top && (await gitFolders('-C', top).catch(() => undefined));
  if (!top || !folders) return contentOfFolder(directory);
  if (depth > DEEPEST) throw new Error(`${directory} has too many repositories in each other`);
  const { content, nested } = await contentInGit(top, folders);
  if (nested.length > MOST_NESTED)
    throw new Error(`${top} has more than ${MOST_NESTED} repositories in it`);
  const inner: string[] = [];
  for (const folder of nested) inner.push(folder, await nestedContent(folder, depth + 1));
  return inner.length === 0 ? content : digestOf([content, ...inner]);
}

const DEEPEST = 8;
const MOST_NESTED = 200;

/** A submodule may not be there. */
async function nestedContent(folder: string, depth: number): Promise<string> {
  const isThere = (await lstat(folder).catch(() => undefined))?.isDirectory() ?? false;
  if (!isThere || !existsSync(join(folder, '.git'))) return 'none';
  return treeContent(folder, depth);
}

async function contentInGit(top: string, folders: GitFolders) {
  return inScratch(folders, async (scratch) => {
    const env = {
      ...NO_CONFIG,
      GIT_DEFAULT_HASH: folders.format,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(folders.shared, 'objects'),
    };
    const settings = ['-c', 'core.bare=false', '-c', `core.excludesFile=${await ownIgnoreFile()}`];
    const where = ['-C', top, '--git-dir', scratch, '--work-tree', top, ...settings];
    const git = (args: readonly string[], input = '') =>
      runGit({ args: [...where, ...args], input, isBinary: true, env });
    // An index may need other files of its repository. Without it, git reads all files.
    const told = await statusOf(git).catch(async () => {
      await rm(join(scratch, 'index'), { force: true });
      return statusOf(git);
    });
    await addChanges(git, told, top);
    const content = await writeTree(git);
    const listed = (await git(['ls-files', '--stage', '-z'])).split('\0');
    const modules = listed.flatMap((line) => /^160000 [^\t]+\t(.+)$/s.exec(line)?.[1] ?? []);
    const found = told.split('\0').flatMap((line) => /^\? (.+)\/$/s.exec(line)?.[1] ?? []);
    const nested = [...new Set([...modules, ...found])].toSorted();
    return { content, nested: nested.map((path) => join(top, bytesOf(path))) };
  });
}

/** The file with ignore rules that the user has named, as git would use it. */
async function ownIgnoreFile(): Promise<string> {
  const args = ['config', '--global', '--type=path', '--get', 'core.excludesFile'];
  const told = await runGit({ args }).catch(() => '');
  return (
    told.trim() || join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'git/ignore')
  );
}

/** Each character of a path from git is one byte. */
const bytesOf = (path: string) => Buffer.from(path, 'latin1').toString();
const digestOf = (parts: readonly string[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');

const MOST_FILES = 20_000;
const MOST_BYTES = 256 * 1024 * 1024;

async function contentOfFolder(directory: string): Promise<string> {
  const hash = createHash('sha256');
  let files = 0;
  let bytes = 0;
  const visit = async (folder: string, name: string): Promise<void> => {
    const entries = await readdir(folder, { withFileTypes: true });
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      if (name === '' && entry.name === '.raymond') continue;
      const path = join(folder, entry.name);
      const inner = `${name}/${entry.name}`;
      if (entry.isDirectory()) {
        await visit(path, inner);
        continue;
      }
      files += 1;
      if (files > MOST_FILES) throw new Error(`${directory} has more than ${MOST_FILES} files`);
      const content = entry.isFile()
        ? await readRegularFile(path, MOST_BYTES)
        : Buffer.from(entry.isSymbolicLink() ? await readlink(path) : '');
      bytes += content.length;
      if (bytes > MOST_BYTES)
        throw new Error(`the files in ${directory} have more than ${MOST_BYTES} bytes`);
      hash.update(JSON.stringify([inner, content.length])).update(content);
    }
  };
  await visit(directory, '');
  return hash.digest('hex');
}
