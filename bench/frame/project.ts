import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A new scratch project whose folder is also the workflow. */
export function project(folder: string, files: Readonly<Record<string, string>>): string {
  const made = mkdtempSync(join(folder, 'project-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(made, name), text);
  return made;
}
