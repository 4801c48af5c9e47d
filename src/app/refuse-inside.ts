/** Prevents the steps of a run from deciding in place of a person. */
import { UserError } from '../model/user-error.ts';
import type { Surroundings } from '../world/surroundings.ts';

/** For a decision about one run. Steps of other runs may decide it: a workflow can be written to do so. */
export async function refuseInside(around: Surroundings, run: string, what: string): Promise<void> {
  if (!(await around.world.isInside(run))) return;
  throw new UserError(
    'not-in-a-run',
    `This command runs inside ${run}, and only a person can ${what}.`,
    'Run it in your own terminal.',
  );
}

/** For a decision about a project. */
export async function refuseInsideAny(around: Surroundings, what: string): Promise<void> {
  for (const run of await around.store.list()) await refuseInside(around, run, what);
}
