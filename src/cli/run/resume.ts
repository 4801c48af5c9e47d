import { dueRuns } from '../../app/due-runs.ts';
import { allRuns, runToChange } from '../../app/find-run.ts';
import { type ResumeOptions, relaunch, resume as resumeRun } from '../../app/resume.ts';
import { conditionOf, isResumable, needsAnswer } from '../../model/condition.ts';
import { UserError } from '../../model/user-error.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { configurationFor, ignoredKeys } from '../../world/config/configuration.ts';
import { withNormalChoices } from '../../world/config/normal-choices.ts';
import { notYours } from '../../world/sealed-choices.ts';
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
    return resumeAll(around, options);
  }
  const id = await runToChange(around.store, name);
  if (!options.detach) return resumeOne(around, id, options);
  return announce(around, await relaunch(around, id, options, terminalDoor(options)));
}

async function resumeOne(
  around: Surroundings,
  id: string,
  options: ResumeOptions,
  patient = true,
): Promise<number> {
  const resumed = await resumeRun(around, id, options, terminalDoor(options), patient);
  if (resumed.kind === 'begun') return attendAtTerminal(around, resumed.begun, patient);
  const { result } = resumed.run;
  if (result !== undefined && !options.json) await stdout.result(result);
  return 0;
}

/**
 * Resumes one run after the other. A question does not delay the next run. Afterwards, resumes each
 * waiting run when its answer has arrived or its deadline has passed.
 */
async function resumeAll(around: Surroundings, options: ResumeOptions): Promise<number> {
  const config = await configurationFor(
    around.project,
    withNormalChoices(options, 'The command line'),
  );
  stderr.say(...ignoredKeys(config));
  const codes = new Map<string, number>();
  const waiting = new Set<string>();
  const resumeNext = async ({ id }: { readonly id: string }) => {
    const code = await resumeOne(around, id, options, false).catch(reportOne(options));
    codes.set(id, code);
    waiting.add(id);
    return code;
  };
  for (const found of await allRuns(around.store)) {
    if (found.kind === 'damaged') continue;
    const condition = conditionOf(found);
    if (!found.isOwn && !options.trustRun) {
      if (isResumable(condition) || needsAnswer(condition))
        stderr.say(`Skipped: ${notYours(found.id, found.doubt)}`);
      continue;
    }
    if (needsAnswer(condition)) waiting.add(found.id);
    if (!isResumable(condition)) continue;
    if ((await resumeNext(found)) === INTERRUPTED) return INTERRUPTED;
  }
  const say = (line: string) => {
    if (!options.quiet && !options.json) stderr.say(line);
  };
  for await (const found of dueRuns(around, waiting, { ...options, say })) {
    if ((await resumeNext(found)) === INTERRUPTED) return INTERRUPTED;
  }
  if (codes.size === 0) stderr.say('There is nothing to resume.');
  return [...codes.values()].find((code) => code !== 0) ?? 0;
}

/** An error of one run does not stop the others. */
function reportOne({ json }: ResumeOptions): (error: unknown) => number {
  return (error) => {
    if (!(error instanceof UserError)) throw error;
    reportError(error, json);
    return 1;
  };
}

/** After Ctrl-C in one run, the next one does not start. */
const INTERRUPTED = 130;
