/** The files that a test names. All of them are in the test's own project folder. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isWithin, readFileWithin, UnusableFile } from '../files/regular-file.ts';
import { UserError } from '../model/user-error.ts';
import type { WorkflowTest } from '../parse/test-file.ts';

/** Creates the files of a test. Throws a UserError for a forbidden name, also in `expect`. */
export async function putFiles(
  folder: string,
  { files, expect }: Pick<WorkflowTest, 'files' | 'expect'>,
): Promise<void> {
  for (const name of Object.keys(expect?.files ?? {})) pathIn(folder, name);
  for (const [name, text] of Object.entries(files ?? {})) {
    const path = pathIn(folder, name);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, text, { mode: 0o600 });
  }
}

/**
 * Reads a file after the test. A script may have put a link there. The link is not followed out of
 * the folder.
 */
export async function readProjectFile(
  folder: string,
  name: string,
): Promise<{ readonly text: string } | { readonly problem: string }> {
  try {
    return { text: (await readFileWithin(folder, name, MAX_BYTES)).toString('utf8') };
  } catch (error) {
    if (error instanceof UnusableFile) return { problem: `not a readable file: ${error.message}` };
    return { problem: 'no such file' };
  }
}

const MAX_BYTES = 16 * 1024 * 1024;

function pathIn(folder: string, name: string): string {
  const path = resolve(folder, name);
  if (!name.includes('\0') && path !== folder && isWithin(folder, path)) return path;
  throw new UserError(
    'bad-file',
    `The file ${JSON.stringify(name)} of a test is outside its project folder.`,
    'Name it relative to that folder.',
  );
}
