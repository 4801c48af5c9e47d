/** The content of a working tree as one name, so that two moments can be compared. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRegularFile } from '../../files/regular-file.ts';
import { copyIndex } from './copy-index.ts';
import { inertConfig } from './inert-config.ts';
import { runGit } from './run-git.ts';

/** Stands for a value and for the content of the working tree that contains a directory. */
export async function entryDigest(input: string | undefined, directory: string): Promise<string> {
  const content = await treeContent(directory);
  return createHash('sha256')
    .update(JSON.stringify([input ?? null, content]))
    .digest('hex');
}

/**
 * In a git repository: all files that git does not ignore. Elsewhere: all files of the directory.
 * Rejects if there are too many, or if one cannot be read.
 */
export async function treeContent(directory: string): Promise<string> {
  const asked = ['--path-format=absolute', '--absolute-git-dir', '--show-toplevel', '--git-path'];
  const args = ['-C', directory, 'rev-parse', ...asked, 'objects'];
  const told = await runGit({ args }).catch(() => undefined);
  const [repository, top, objects] = told?.split('\n') ?? [];
  return repository && top && objects
    ? contentInGit({ repository, top, objects })
    : contentOfFolder(directory);
}

interface WorkingTree {
  readonly repository: string;
  readonly top: string;
  readonly objects: string;
}

/** Writes nothing into the repository: the index and the new objects are in a scratch folder. */
async function contentInGit({ repository, top, objects }: WorkingTree): Promise<string> {
  const scratch = await mkdtemp(join(tmpdir(), 'raymond-content-'));
  try {
    const index = join(scratch, 'index');
    await copyIndex(join(repository, 'index'), index);
    const own = join(scratch, 'objects');
    await mkdir(own);
    const env = {
      ...(await inertConfig(repository)),
      GIT_INDEX_FILE: index,
      GIT_OBJECT_DIRECTORY: own,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
    };
    const where = ['-C', top, '--git-dir', repository, '--work-tree', top];
    await runGit({ args: [...where, 'add', '--all'], env });
    return (await runGit({ args: [...where, 'write-tree'], env })).trim();
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

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
