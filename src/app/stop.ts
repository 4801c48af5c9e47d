import { openRun } from '../host/open-run.ts';
import { UserError } from '../model/user-error.ts';
import type { RunOwner } from '../ports.ts';
import type { Surroundings } from '../world/surroundings.ts';
import type { Stopped } from '../world/world.ts';

export type Stopping =
  /** The owner was asked. `wait` resolves when the run has stopped. */
  | { readonly kind: 'asked'; readonly owner: RunOwner; readonly wait: Stopped }
  /** No process worked on the run. So many processes of its steps were ended. */
  | { readonly kind: 'left'; readonly ended: number };

/** Stops the process that works on a run, or what such a process has left. */
export async function stop(
  around: Surroundings,
  id: string,
  how: 'drain' | 'now',
): Promise<Stopping> {
  const { store, world } = around;
  await openRun(store, id);
  const owner = await store.owner(id);
  if (owner === undefined) return { kind: 'left', ended: await endLeft(around, id, how) };
  return { kind: 'asked', owner, wait: await world.stop(id, how, owner) };
}

/** Ends the steps that a killed Raymond process has left running. */
async function endLeft(around: Surroundings, id: string, how: 'drain' | 'now'): Promise<number> {
  const lease = await around.store.lease(id);
  try {
    const processes = await around.processes(id);
    const left = processes.strays().length;
    const fact = `No process works on ${id}`;
    if (left === 0)
      throw new UserError('not-running', `${fact}.`, `To see its status: raymond show ${id}`);
    if (how === 'drain')
      throw new UserError(
        'not-running',
        `${fact}, but ${left === 1 ? '1 process that it started still runs' : `${left} processes that it started still run`}.`,
        `To continue with them: raymond resume ${id}. To end them: raymond stop ${id} --now`,
      );
    await processes.endStrays();
    return left;
  } finally {
    await lease.release();
  }
}
