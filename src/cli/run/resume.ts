import { runToChange } from '../../app/find-run.ts';
import {
  type Resumed,
  type ResumeOptions,
  relaunch,
  resume as resumeRun,
} from '../../app/resume.ts';
import { resumeAll } from '../../app/resume-all.ts';
import { UserError } from '../../model/user-error.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import type { Here, Surroundings } from '../../world/surroundings.ts';
import { reportError } from '../terminal/report-error.ts';
import { stderr, stdout } from '../terminal/terminal.ts';
import { terminalDoor } from '../terminal/terminal-door.ts';
import { announce } from './announce.ts';
import { attendAtTerminal } from './attend-at-terminal.ts';

/** Continues a run, or every run that can continue without an answer. */
export async function resume(
  here: Here,
  name: string | undefined,
  options: ResumeOptions,
): Promise<number> {
  const around = await here();
  if (name === undefined && !options.all)
    throw wrongUsage('No run is named.', 'Name one. To see all runs: raymond list');
  if (options.all || name === undefined) {
    if (options.detach)
      throw wrongUsage('--detach works with one run.', 'Name a run, or omit --detach.');
    return attendAll(around, options);
  }
  const id = await runToChange(around.store, name);
  const door = terminalDoor(options);
  if (options.detach) return announce(around, await relaunch(around, id, options, door));
  return attendResumed(around, await resumeRun(around, id, options, door), options);
}

async function attendResumed(
  around: Surroundings,
  resumed: Resumed,
  { json }: ResumeOptions,
  patient?: boolean,
): Promise<number> {
  if (resumed.kind === 'begun') return attendAtTerminal(around, resumed.begun, patient);
  const { result } = resumed.run;
  if (result !== undefined && !json) await stdout.result(result);
  return 0;
}

/** Gives the exit code of the first run that did not succeed. */
async function attendAll(around: Surroundings, options: ResumeOptions): Promise<number> {
  const codes = new Map<string, number>();
  // An error of one run does not stop the others.
  const report = (error: unknown) => {
    if (!(error instanceof UserError)) throw error;
    reportError(error, options.json);
    return 1;
  };
  for await (const { id, resumed } of resumeAll(around, options, terminalDoor(options))) {
    const code = await resumed
      .then((one) => attendResumed(around, one, options, false))
      .catch(report);
    // After Ctrl-C in one run, the next one does not start.
    if (code === INTERRUPTED) return code;
    codes.set(id, code);
  }
  if (codes.size === 0) stderr.say('There is nothing to resume.');
  return [...codes.values()].find((code) => code !== 0) ?? 0;
}

const INTERRUPTED = 130;
