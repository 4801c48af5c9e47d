import { namedWorkflows } from '../graph/named-workflows.ts';
import { UserError } from '../model/user-error.ts';
import type { WorkflowLibrary } from '../ports.ts';

/**
 * Reads every workflow that a workflow names, and those that they name; gives the refs of all. A run
 * that has read them before its first step does not see what its agents write into them later.
 */
export async function loadNamed(library: WorkflowLibrary, ref: string): Promise<readonly string[]> {
  const seen = new Set([ref]);
  for (const from of seen) {
    const workflow = library.get(from);
    for (const path of workflow ? namedWorkflows(workflow) : []) {
      if (seen.size >= MOST) return [...seen];
      // One that cannot be read may exist by the time it is entered; if not, that is said then.
      const named = await library.load(path, from).catch((error: unknown) => {
        if (!(error instanceof UserError)) throw error;
      });
      if (named) seen.add(named.ref);
    }
  }
  return [...seen];
}

const MOST = 100;
