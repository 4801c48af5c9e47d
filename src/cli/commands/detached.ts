/** The background process of a run. It does what the command sends that has started it. */
import { reasonOf } from '../../journal/disk-errors.ts';
import { UserError } from '../../model/user-error.ts';
import type { DetachedCommand } from '../detached-command.ts';
import { reportError } from '../report-error.ts';
import { runInBackground } from '../run-in-background.ts';
import { listenToStarter } from '../starter.ts';
import type { Here } from '../surroundings.ts';
import { limitStderr, stderr } from '../terminal.ts';

/** Carries the run, and gives its exit code. No process reads that. */
export async function detached(here: Here, run: string): Promise<number> {
  limitStderr(MOST_LOG_BYTES);
  const starter = await listenToStarter();
  const { processLog } = (await here()).workspace(run);
  const carry = runInBackground(() => {
    try {
      processLog.keep(starter.command.log);
    } catch (error) {
      stderr.say(`This file keeps its name ${starter.command.log}: ${reasonOf(error)}.`);
    }
    starter.tell({ kind: 'began' });
  });
  try {
    const exitCode = await carryOut(here, starter.command, carry);
    starter.tell({ kind: 'over', exitCode });
    return exitCode;
  } catch (error) {
    if (starter.isListening() && error instanceof UserError) {
      const { code, message, remedy, place } = error;
      starter.tell({ kind: 'refused', code, message, remedy, place });
      return 1;
    }
    const exitCode = reportError(error);
    starter.tell({ kind: 'over', exitCode });
    return exitCode;
  }
}

const MOST_LOG_BYTES = 1024 * 1024;

async function carryOut(
  here: Here,
  { kind, name, options }: DetachedCommand,
  carry: ReturnType<typeof runInBackground>,
): Promise<number> {
  if (kind === 'run') return (await import('./run.ts')).run(here, name, options, carry);
  return (await import('./resume.ts')).resume(here, name, options, carry);
}
