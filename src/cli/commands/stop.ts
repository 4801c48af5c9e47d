import { setTimeout as delay } from 'node:timers/promises';
import { isAlive, isSuspended, signalProcess } from '../../execute/process/index.ts';
import { counted } from '../../model/counted.ts';
import { UserError } from '../../model/user-error.ts';
import type { RunOwner, RunStore } from '../../ports.ts';
import { allRuns, openRun, runToChange } from '../runs.ts';
import type { Here, Surroundings } from '../surroundings.ts';
import { stderr, stdout } from '../terminal.ts';

export interface StopOptions {
  readonly now?: boolean;
  readonly wait?: boolean;
  readonly json?: boolean;
}

/** Asks the process that works on a run to stop, and waits until it has. */
export async function stop(
  here: Here,
  name: string | undefined,
  options: StopOptions,
): Promise<number> {
  const around = await here();
  const { store } = around;
  const id = name === undefined ? await newestAtWork(store) : await runToChange(store, name);
  await openRun(store, id);
  const owner = await store.owner(id);
  if (owner === undefined) return endLeft(around, id, options);
  await store.mailbox(id).post({
    kind: 'stop',
    how: options.now ? 'now' : 'drain',
    pid: owner.pid,
  });
  if (!options.json)
    stderr.offer(
      options.now
        ? `Stopping ${id}.`
        : `${id} stops when its running steps have finished. To stop them now: raymond stop ${id} --now`,
    );
  const how = await (options.now ? stopNow(around, id, owner) : drain(around, id, owner));
  if (options.json) stdout.json({ workflow_id: id, stopped: true, killed: how === 'killed' });
  else if (how === 'stopped') stderr.say(`${id} has stopped.`);
  else
    stderr.offer(
      `Process ${owner.pid} did not react, so Raymond killed it and all steps of ${id}. To continue: raymond resume ${id}`,
    );
  return 0;
}

async function newestAtWork(store: RunStore): Promise<string> {
  const found = (await allRuns(store)).findLast((one) => one.kind === 'stored' && one.owner);
  if (found) return found.id;
  throw new UserError(
    'not-running',
    'No process works on a run of this project.',
    'To see all runs: raymond list',
  );
}

/** Ends the steps that a killed Raymond process has left running. */
async function endLeft(
  around: Surroundings,
  id: string,
  { now, json }: StopOptions,
): Promise<number> {
  const lease = await around.store.lease(id);
  try {
    const processes = await around.processes(id);
    const left = processes.strays().length;
    const fact = `No process works on ${id}`;
    if (left === 0)
      throw new UserError('not-running', `${fact}.`, `To see its status: raymond show ${id}`);
    if (!now)
      throw new UserError(
        'not-running',
        `${fact}, but ${left === 1 ? '1 process that it started still runs' : `${left} processes that it started still run`}.`,
        `To continue with them: raymond resume ${id}. To end them: raymond stop ${id} --now`,
      );
    await processes.endStrays();
    if (json) stdout.json({ workflow_id: id, stopped: true, ended: left });
    else
      stderr.say(`${fact}. Raymond ended ${counted(left, 'process', 'processes')} of its steps.`);
    return 0;
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
