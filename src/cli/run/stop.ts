import { allRuns, runToChange } from '../../app/find-run.ts';
import { stop as stopRun } from '../../app/stop.ts';
import { counted } from '../../model/counted.ts';
import { UserError } from '../../model/user-error.ts';
import type { RunStore } from '../../ports.ts';
import type { Here } from '../../world/surroundings.ts';
import { stderr, stdout } from '../terminal/terminal.ts';

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
  const begun = await stopRun(around, id, options.now ? 'now' : 'drain');
  if (begun.kind === 'left') {
    const { ended } = begun;
    if (options.json) stdout.json({ workflow_id: id, stopped: true, ended });
    else
      stderr.say(
        `No process works on ${id}. Raymond ended ${counted(ended, 'process', 'processes')} of its steps.`,
      );
    return 0;
  }
  if (begun.owner.isAwaited) {
    if (options.json) stdout.json({ workflow_id: id, stopped: false });
    else stderr.say(`No worker executes ${id} now. It stops when a worker takes it.`);
    return 0;
  }
  if (!options.json)
    stderr.offer(
      options.now
        ? `Stopping ${id}.`
        : `${id} stops when its running steps have finished. To stop them now: raymond stop ${id} --now`,
    );
  const how = await begun.wait();
  if (options.json) stdout.json({ workflow_id: id, stopped: true, killed: how === 'killed' });
  else if (how === 'stopped') stderr.say(`${id} has stopped.`);
  else
    stderr.offer(
      `Process ${begun.owner.pid} did not react, so Raymond killed it and all steps of ${id}. To continue: raymond resume ${id}`,
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
