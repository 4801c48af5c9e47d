/** Attends a run at the terminal until it ends, and returns the exit code. */
import type { StartedRun } from '../../app/started-run.ts';
import { shellWord } from '../../model/shell-word.ts';
import type { Surroundings } from '../../world/surroundings.ts';
import { attendantAtTerminal } from '../terminal/attendant.ts';
import { stderr, stdout } from '../terminal/terminal.ts';
import { exitCode } from './exit-code.ts';

export async function attendAtTerminal(
  around: Surroundings,
  started: StartedRun,
  patient?: boolean,
): Promise<number> {
  const { options, isLive } = started;
  const { id } = started.run;
  const attendant = attendantAtTerminal({ ...started, around, id, patient });
  const { run, isStopAwaited } = await started.attend(attendant);
  if (!isLive && run.status.kind !== 'ended') {
    if (isStopAwaited) stderr.say(`No worker executes ${id} now. It stops when a worker takes it.`);
    else stderr.offer(`${id} continues. To watch it: raymond watch ${shellWord(id)}`);
    return LEFT;
  }
  stderr.say(...(await around.world.lostTrees(run)));
  // Last, because a blocked reader must not block anything else.
  if (run.result !== undefined && !options.json) await stdout.result(run.result);
  return exitCode(run);
}

const LEFT = 130;
