/** What only a person decides is refused to the steps of a run. */
import { listRuns } from '../journal/find-run.ts';
import type { Project } from '../journal/project.ts';
import { UserError } from '../model/user-error.ts';
import { disk, pathsOf, processesOf } from './store.ts';

/** For a decision about a run: steps of other runs may be made to decide it. */
export function refuseInside(project: Project, run: string, what: string): void {
  if (!processesOf(pathsOf(project, run)).includeThisProcess()) return;
  throw new UserError(
    'not-in-a-run',
    `This is inside of ${run}, and only a person can ${what}.`,
    'Run it in a terminal of your own.',
  );
}

/** For a decision about a project. */
export async function refuseInsideAny(project: Project, what: string): Promise<void> {
  for (const run of await listRuns(disk, project)) refuseInside(project, run, what);
}
