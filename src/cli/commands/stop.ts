import { UserError } from '../../model/user-error.ts';
import { sendTo } from '../run-process.ts';
import { openRun } from '../runs.ts';
import { currentProject, ownerOf } from '../store.ts';
import { stderr, stdout } from '../terminal.ts';

export interface StopOptions {
  readonly now?: boolean;
  readonly wait?: boolean;
  readonly json?: boolean;
}

/** Asks the process that works on a run to stop, and waits until it has. */
export async function stop(name: string, options: StopOptions): Promise<number> {
  const { id, paths, pid } = await openRun(await currentProject(), name);
  if (pid === undefined) {
    throw new UserError(
      'not-running',
      `No process works on ${id}.`,
      `See how it is: raymond show ${id}`,
    );
  }
  await sendTo(paths, { kind: 'stop', how: options.now ? 'now' : 'drain', pid });
  if (!options.json)
    stderr.say(
      options.now
        ? `Stopping ${id}.`
        : `${id} stops when its running steps are done. To stop them: raymond stop ${id} --now`,
    );
  while ((await ownerOf(paths)) !== undefined)
    await new Promise((resolve) => setTimeout(resolve, 100));
  if (options.json) stdout.json({ workflow_id: id, stopped: true });
  else stderr.say(`${id} has stopped.`);
  return 0;
}
