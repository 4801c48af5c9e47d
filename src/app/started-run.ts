import { ANSWERING_BY_MAIL, NOBODY } from '../host/ask-person.ts';
import type { Settings } from '../model/event.ts';
import { type Consent, type Door, type LogFile, type Notice, warnings } from '../model/notice.ts';
import type { RunOptions } from '../options/run-options.ts';
import { agent } from '../world/agent.ts';
import type { Surroundings } from '../world/surroundings.ts';
import type { BegunRun } from '../world/world.ts';

/** A run that has begun or continues, and waits for its attendant. */
export interface StartedRun extends BegunRun {
  /** Those of the command, with those of the config files. */
  readonly options: RunOptions;
  /** Whoever attends the run closes it. */
  readonly log: LogFile | undefined;
}

/** The log file that the options name, if the door writes one. */
export const openedLog = (door: Door, { logFile }: RunOptions, { project }: Surroundings) =>
  logFile === undefined ? undefined : door.openLog?.(logFile, project);

/** For a run that no person attends: its questions wait for answers by mail, unless it does not wait. */
export const personAway = ({ run, options, rehearsed }: StartedRun) =>
  rehearsed ?? ((options.wait ?? run.settings.wait) ? ANSWERING_BY_MAIL : NOBODY);

export function give(door: Door, notices: readonly Notice[]): void {
  for (const notice of notices) door.notice(notice);
}

/** What a person decides about is shown to whoever has agreed already, and else given to the question. */
export async function consented(
  door: Door,
  { kind, facts }: Consent,
  isGiven: boolean | undefined,
): Promise<boolean | undefined> {
  if (!isGiven) return door.agree({ kind, facts });
  give(door, warnings(facts));
  return true;
}

export function agentNotices({ rehearse, rehearseScripts, agent: choices }: Settings) {
  if (!rehearse) return warnings(agent.warningsOf(choices));
  return warnings([
    rehearseScripts
      ? 'Rehearsal: Raymond calls no model and spends nothing. It executes scripts (--scripts).'
      : 'Rehearsal: Raymond calls no model, executes no script and spends nothing.',
  ]);
}
