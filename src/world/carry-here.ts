/** Works on one run in this process, with its messages and its executors. */

import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { agentsWith } from '../execute/agents/agents.ts';
import { self } from '../execute/process/index.ts';
import type { Attendant } from '../host/attendant.ts';
import { carryRun } from '../host/carry-run.ts';
import { rehearsedPerson } from '../host/rehearsed-person.ts';
import { skippingClock } from '../host/skipping-clock.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import { AbandonedSteps } from '../model/abandoned-steps.ts';
import { hints, warnings } from '../model/notice.ts';
import type { Run } from '../model/run.ts';
import { publishNow } from '../observe/publish-now.ts';
import { wrongUsage } from '../options/wrong-usage.ts';
import type { Clock } from '../ports.ts';
import {
  checkAbilities,
  checkAgents,
  checkRights,
  checkSecrets,
  checkSettings,
} from './check-agents.ts';
import { approvalsOf } from './config/trust.ts';
import { groundOf } from './ground.ts';
import { leftBehind } from './left-behind.ts';
import { notifiers } from './notify.ts';
import type { Surroundings } from './surroundings.ts';
import { telemetry } from './telemetry.ts';
import { commitVariant } from './variant-files.ts';
import { type ChosenExecutors, executors } from './wire.ts';
import type { AttendedRun, HeldRun, IntendedRun, PreparedRun } from './world.ts';

/** `root` is the folder whose settings for agents the user may have approved. */
export async function prepareHere(
  around: Surroundings,
  intended: IntendedRun,
  root: string,
): Promise<PreparedRun> {
  const { id, cwd, isNew, settings, options, given, library, refs } = intended;
  if (given.remote !== undefined)
    throw wrongUsage('--remote works only with a database.', 'Add --database, or omit --remote.');
  const checked = { library, refs, settings, given: options };
  const check = isNew ? checkAgents : checkAbilities;
  const texts = settings.rehearse
    ? []
    : [
        ...check(checked),
        ...checkSettings(checked, cwd, await approvalsOf(root)),
        ...(await checkRights(checked)),
      ];
  const ports = await executors(around, { ...intended, run: id, given: options });
  const lacks = ports.secrets ? await checkSecrets(checked, ports.secrets, isNew) : [];
  if (isNew) {
    await around.makeProject();
    await around.workspace(id).check();
  }
  const besides = settings.rehearse ? undefined : { cwd, isInside: around.world.isInside };
  const others = isNew ? await leftBehind(around.store, besides) : [];
  return {
    notices: [...warnings([...texts, ...lacks]), ...hints(others)],
    async begin(run, held) {
      const { tasks } = around.workspace(id);
      // A run of this name may have been deleted with its project.
      if (isNew && existsSync(tasks)) await rm(tasks, { recursive: true });
      const replies = await repliesLeft(around, ports, isNew ? undefined : id);
      const skipping = replies && skippingClock(around.clock, run.updatedAt);
      const clock = skipping ?? around.clock;
      return {
        ...{ run, clock, isLive: true, notices: [] },
        rehearsed: skipping && replies ? rehearsedPerson(replies, skipping) : undefined,
        attend: (attendant) =>
          carry(run, held, { around, intended, executors: ports, clock }, attendant),
      };
    },
  };
}

interface Parts {
  readonly around: Surroundings;
  readonly intended: IntendedRun;
  readonly executors: ChosenExecutors;
  readonly clock: Clock;
}

async function carry(
  run: Run,
  held: HeldRun,
  { around, intended, executors, clock }: Parts,
  attendant: Attendant,
): Promise<AttendedRun> {
  const { lease, journal, first, begun, patient = true } = held;
  const { newId, store } = around;
  const { library } = intended;
  const { person, warn } = attendant;
  const { pid, started } = self();
  const kept = store.files(run.id);
  const shown = run.settings.rehearse ? undefined : kept;
  try {
    const carried = await carryRun(run, first, {
      ...{ library, executors, clock, newId, person, patient, journal, begun },
      confirm: lease.confirm,
      ground: await groundOf(run, library, around.workspace(run.id).tasks, shown),
      folders: around.workspace(run.id),
      kept,
      ...{ keeper: executors.keeper, worktrees: executors.worktrees, files: executors.files },
      mail: { mailbox: store.mailbox(run.id), pid, started, report: warn },
      stops: (stop) => attendant.stops((how, why) => how !== 'leave' && stop(how, why)),
      worker: `${hostname()}:${pid}`,
      observers: [
        ...attendant.observers,
        ...notifiers(run, { around, executors, options: intended.options }, attendant),
        ...(await telemetry(run, agentsWith(intended.options.agents), around)),
        ['The view of other processes', publishNow({ ...lease, clock: around.clock })],
      ],
      observerFailed: attendant.observerFailed,
    });
    if (carried.kind === 'lost') throw carried.loss;
    await commitVariant({ ...around, report: warn }, carried.run);
    return { run: carried.run };
  } finally {
    await journal.close().finally(() => lease.release());
  }
}

/**
 * The replies that a rehearsal has not given yet; undefined if the run is not a rehearsal. A resumed
 * rehearsal continues where it stopped, and remembers its earlier answers.
 */
async function repliesLeft(
  { store }: Surroundings,
  { rehearsal }: ChosenExecutors,
  resumed: string | undefined,
): Promise<readonly string[] | undefined> {
  if (!rehearsal || resumed === undefined) return rehearsal?.replies;
  let run = newRun;
  let answered = 0;
  // The answers of abandoned steps are given again.
  const abandoned = new AbandonedSteps();
  for await (const event of store.events(resumed)) abandoned.follow(event, event.seq);
  for await (const event of store.events(resumed)) {
    run = apply(run, event);
    if (event.type !== 'step-started' || !abandoned.has(event.agent, event.step))
      rehearsal.remember(event, run);
    if (event.type === 'agent-answered') answered += 1;
  }
  return rehearsal.replies.slice(answered);
}
