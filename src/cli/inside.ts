/** What only a person decides is refused to the steps of a run. */
import { UserError } from '../model/user-error.ts';
import type { Surroundings } from './surroundings.ts';

/** For a decision about a run: steps of other runs may be made to decide it. */
export function refuseInside(around: Surroundings, run: string, what: string): void {
  if (!around.processes(run).includeThisProcess()) return;
  throw new UserError(
    'not-in-a-run',
    `This is inside of ${run}, and only a person can ${what}.`,
    'Run it in a terminal of your own.',
  );
}

/** For a decision about a project. */
export async function refuseInsideAny(around: Surroundings, what: string): Promise<void> {
  for (const run of await around.store.list()) refuseInside(around, run, what);
}
