/** Waits until the process that works on a run has stopped, and kills it if necessary. */
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive, isSuspended, signalProcess } from '../execute/process/index.ts';
import { UserError } from '../model/user-error.ts';
import type { RunOwner } from '../ports.ts';
import type { Surroundings } from './surroundings.ts';

const LOOK_EVERY_MS = 100;

/** Waits as long as the running steps need. */
export async function drain(
  around: Pick<Surroundings, 'store'>,
  id: string,
  owner: RunOwner,
): Promise<'stopped'> {
  while (await isOwner(around, id, owner)) {
    if (isSuspended(owner))
      throw new UserError(
        'run-suspended',
        `Process ${owner.pid} works on ${id}, but it is suspended, so it cannot stop.`,
        `Continue it, so that it can stop: kill -CONT ${owner.pid}. Or stop it with its steps: raymond stop ${id} --now`,
      );
    await delay(LOOK_EVERY_MS);
  }
  return 'stopped';
}

/** Longer than Raymond needs to end a tree of processes that ignore signals. */
const PATIENCE_MS = 30_000;

/** Kills a process that does not react in time. The run can repeat everything that is lost. */
export async function stopNow(
  around: Pick<Surroundings, 'store' | 'processes'>,
  id: string,
  owner: RunOwner,
  patienceMs = PATIENCE_MS,
): Promise<'stopped' | 'killed'> {
  const deadline = performance.now() + patienceMs;
  while (await isOwner(around, id, owner)) {
    if (performance.now() > deadline) {
      if (!owner.isHere) throw outOfReach(owner);
      await killOwner(around, id, owner);
      return 'killed';
    }
    if (isSuspended(owner)) signalProcess(owner, 'SIGCONT');
    await delay(LOOK_EVERY_MS);
  }
  return 'stopped';
}

/** The pid of a process in another container belongs to a different process here. */
function outOfReach(owner: RunOwner): UserError {
  return new UserError(
    'run-out-of-reach',
    `The owner of the run is ${owner.name}. It did not react, and cannot be killed from here.`,
    'End it on its machine or in its container.',
  );
}

async function killOwner(
  around: Pick<Surroundings, 'processes'>,
  id: string,
  owner: RunOwner,
): Promise<void> {
  signalProcess(owner, 'SIGKILL');
  while (isAlive(owner)) await delay(LOOK_EVERY_MS);
  await (await around.processes(id)).endStrays();
}

/** False as soon as another process works on the run. */
async function isOwner(
  { store }: Pick<Surroundings, 'store'>,
  id: string,
  { pid, started }: RunOwner,
): Promise<boolean> {
  const owner = await store.owner(id);
  return owner?.pid === pid && owner.started === started;
}
