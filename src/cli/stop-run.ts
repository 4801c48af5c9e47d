/** Stops the process that works on a run, or what such a process has left. */
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive, isSuspended, signalProcess } from '../execute/process/index.ts';
import { apply } from '../interpret/apply.ts';
import { UserError } from '../model/user-error.ts';
import type { RunOwner } from '../ports.ts';
import { openRun } from './runs.ts';
import type { Surroundings } from './surroundings.ts';

export type StopBegun =
  | {
      readonly kind: 'asked';
      readonly owner: RunOwner;
      /** Waits until the process has stopped. */
      wait(): Promise<'stopped' | 'killed'>;
    }
  /** No process worked on the run. So many processes of its steps were ended. */
  | { readonly kind: 'left'; readonly ended: number };

export async function stopRun(
  around: Surroundings,
  id: string,
  how: 'drain' | 'now',
): Promise<StopBegun> {
  const { store } = around;
  await openRun(store, id);
  const owner = await store.owner(id);
  if (owner === undefined) return { kind: 'left', ended: await endLeft(around, id, how) };
  if (around.database) return askWorkers(around, id, how, owner);
  await store.mailbox(id).post({ kind: 'stop', how, pid: owner.pid, started: owner.started });
  const wait = () => (how === 'now' ? stopNow(around, id, owner) : drain(around, id, owner));
  return { kind: 'asked', owner, wait };
}

/** All workers carry a run, so it has stopped when it has ended. */
async function askWorkers(
  { store }: Surroundings,
  id: string,
  how: 'drain' | 'now',
  owner: RunOwner,
): Promise<StopBegun> {
  const { run: asked } = await openRun(store, id);
  await store.mailbox(id).post({ kind: 'stop', how, pid: owner.pid });
  const wait = async () => {
    let run = asked;
    const over = new AbortController();
    for await (const event of store.watch(id, asked.seq, over.signal)) {
      run = apply(run, event);
      if (run.status.kind === 'ended') break;
    }
    return 'stopped' as const;
  };
  return { kind: 'asked', owner, wait };
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

const LOOK_EVERY_MS = 100;

/** Waits as long as the running steps need. */
async function drain(around: Surroundings, id: string, owner: RunOwner): Promise<'stopped'> {
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

/** Kills a process that does not react in time. The run can repeat everything that it loses by that. */
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
