import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Files and folders that an agent must not change, and folders in them that it may. */
export interface ProtectedFiles {
  readonly protects: readonly string[];
  readonly opens: readonly string[];
}

export interface Protected {
  /** `.raymond` of the project. */
  readonly projectFolder: string;
  /** The files of a workflow, absolute. */
  readonly filesOf: (workflow: string) => readonly string[];
}

/** The agent must not change Raymond's own files and those of its workflow, except its task folder. */
export function protection(
  { projectFolder, filesOf }: Protected,
  { workflow, run }: { readonly workflow: string; readonly run: string },
): ProtectedFiles {
  const tasks = join(projectFolder, 'runs', run, 'tasks');
  return {
    protects: [projectFolder, ...filesOf(workflow)].filter(existsSync),
    opens: [tasks].filter(existsSync),
  };
}
