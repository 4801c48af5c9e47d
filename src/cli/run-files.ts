import { join } from 'node:path';
import { walk } from '../files/walk.ts';
import type { RunPaths } from '../journal/project.ts';
import { UserError } from '../model/user-error.ts';

const MOST_FILES = 200_000;

/**
 * Throws a UserError if the folder of a run that Raymond did not make here holds anything but files
 * and folders: through a link, Raymond would write elsewhere. Tasks are the agents' own.
 */
export async function checkRunFiles({ folder }: RunPaths): Promise<void> {
  const tasks = join(folder, 'tasks');
  for await (const here of walk(folder, MOST_FILES, (path) => path === tasks)) {
    if (!here) throw notOurs(folder, 'there are too many');
    const strange = here.entries.find((entry) => !entry.isFile() && !entry.isDirectory());
    if (strange) throw notOurs(folder, `${join(here.folder, strange.name)} is a link, or no file`);
  }
}

function notOurs(folder: string, why: string): UserError {
  return new UserError(
    'foreign-run',
    `The files in ${folder} are not those of a run: ${why}.`,
    'Start the workflow with another --workflow-id, or remove the folder.',
  );
}
