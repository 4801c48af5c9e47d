/** The files that a test names. All of them lie in the test's own project folder. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isWithin, readFileWithin, UnusableFile } from '../files/regular-file.ts';
import { UserError } from '../model/user-error.ts';
import type { WorkflowTest } from '../parse/test-file.ts';

/** Makes the files of a test; a UserError for a name that it may not use, also one that it expects. */
export async function putFiles(folder: string, { files, expect }: WorkflowTest): Promise<void> {
  for (const name of Object.keys(expect?.files ?? {})) pathIn(folder, name);
  for (const [name, text] of Object.entries(files ?? {})) {
    const path = pathIn(folder, name);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, text, { mode: 0o600 });
  }
}

/** What became of a file. A script may have put a link there, which is not followed out of the folder. */
export async function readProjectFile(
  folder: string,
  name: string,
): Promise<{ readonly text: string } | { readonly problem: string }> {
  try {
    return { text: (await readFileWithin(folder, name, MAX_BYTES)).toString('utf8') };
  } catch (error) {
    if (error instanceof UnusableFile) return { problem: `no file to read: ${error.message}` };
    return { problem: 'no such file' };
  }
}

const MAX_BYTES = 16 * 1024 * 1024;

function pathIn(folder: string, name: string): string {
  const path = resolve(folder, name);
  if (!name.includes('\0') && path !== folder && isWithin(folder, path)) return path;
  throw new UserError(
    'bad-file',
    `The file ${JSON.stringify(name)} of a test lies outside of its project folder.`,
    'Name it relative to that folder.',
  );
}
