import { openByKind } from '../host/questions.ts';
import { finishRestoring } from '../host/rewind-run.ts';
import { isCompleted } from '../model/condition.ts';
import { counted } from '../model/counted.ts';
import { type Door, type LogFile, warnings } from '../model/notice.ts';
import type { Run } from '../model/run.ts';
import { shellWord } from '../model/shell-word.ts';
import { UserError } from '../model/user-error.ts';
import { overlaid } from '../options/chosen-options.ts';
import type { RunOptions } from '../options/run-options.ts';
import { wrongUsage } from '../options/wrong-usage.ts';
import type { Lease, RunStore } from '../ports.ts';
import { configurationFor, ignoredKeys, readConfiguration } from '../world/config/configuration.ts';
import { withNormalChoices } from '../world/config/normal-choices.ts';
import { settingsFrom } from '../world/config/settings.ts';
import { loadWorkflows } from '../world/load-workflows.ts';
import { notYours, unsealedNotice } from '../world/sealed-choices.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { checkNames, filesOf, looseLibrary } from '../world/wire.ts';
import { acceptedChanges } from './changed-workflows.ts';
import { acceptForeign, type FilesNow } from './foreign-run.ts';
import { reportFaults } from './refuse-faulty.ts';
import { refuseInside } from './refuse-inside.ts';
import type { LaunchedRun } from './start.ts';
import { agentNotices, give, openedLog, type StartedRun } from './started-run.ts';

export interface ResumeOptions extends RunOptions {
  readonly salvage?: boolean | undefined;
  readonly fresh?: boolean | undefined;
  /** The consent to continue a run that the user did not start here. */
  readonly trustRun?: boolean | undefined;
  /** The consent to use workflow files that have changed since the run read them. */
  readonly acceptChanges?: boolean | undefined;
  /** One of many runs, so what cannot be applied to this one is ignored. */
  readonly all?: boolean | undefined;
}

export type Resumed =
  | { readonly kind: 'begun'; readonly begun: StartedRun }
  /**
   * To resume a completed run is not an error. A process that was killed right after the end has not
   * shown the result, and a caller that resumes until it succeeds gets it here.
   */
  | { readonly kind: 'completed'; readonly run: Run };

/** Continues a run. The caller attends it. `patient` as in `HeldRun`. */
export async function resume(
  around: Surroundings,
  id: string,
  asked: ResumeOptions,
  door: Door,
  patient = true,
): Promise<Resumed> {
  const { store, clock, project, world } = around;
  const given = withNormalChoices(asked, 'The command line');
  const config = await configurationFor(project, given);
  if (!given.all) give(door, warnings(ignoredKeys(config)));
  await refuseInside(around, id, 'resume it');
  const options = overlaid(config.options, given);
  const carried = await world.carried(id, given.trustRun === true, options);
  if (carried) {
    const { isOwn, doubt } = carried.found;
    give(
      door,
      warnings([
        `${id} has not ended, so workers continue it. Raymond only shows it.`,
        ...(isOwn
          ? []
          : [
              `${notYours(id, doubt)} Workers with your key leave it alone. To approve it: raymond resume ${id} --trust-run`,
            ]),
      ]),
    );
    return {
      kind: 'begun',
      begun: { ...carried.begun, options, log: openedLog(door, options, around) },
    };
  }
  const lease = await store.lease(id);
  let log: LogFile | undefined;
  try {
    if (given.salvage) give(door, warnings(await salvage(lease)));
    const opened = await lease.open();
    const { isOwn, journal } = opened;
    const restored = () =>
      finishRestoring({ files: filesOf(around, id), clock }, opened.run, journal);
    let run = isOwn ? await restored() : opened.run;
    const completed = async (): Promise<Resumed> => {
      // A process that was killed right after the end may have left agents that wait for a prompt.
      await (await around.processes(id)).endStrays();
      await journal.close();
      await lease.release();
      const history = `raymond show ${shellWord(id)}`;
      door.notice({ kind: 'hint', text: `${id} is completed. To see its history: ${history}` });
      return { kind: 'completed', run };
    };
    // A rewind or a diff of a stranger's completed run needs the approval that only a resume can give.
    if (isCompleted(run) && (isOwn || !given.trustRun)) return await completed();
    log = openedLog(door, options, around);
    const { agents } = config.options;
    const ownAgents = agents ? { agents } : {};
    const files = isOwn || world.keepsSources ? undefined : await filesNow(run, ownAgents);
    const { source } = around.workspace(id);
    const settings = isOwn
      ? settingsFrom(given, run.settings)
      : await acceptForeign(opened, around.workspace(id), files ?? new Map(), given, door);
    if (!isOwn) {
      give(door, warnings(unsealedNotice(id, await lease.seal({ ...run, settings }))));
      run = await restored();
      if (isCompleted(run)) {
        log?.close();
        return await completed();
      }
    }
    give(door, warnings(await world.tidy(run)));
    if (given.input !== undefined) await checkReceiver(store, run);
    if (given.fresh && !given.all && run.tally.failed === 0)
      throw wrongUsage(`No agent of ${id} has failed, so --fresh has no effect.`, 'Omit --fresh.');
    // Accepted changes are those of the files here.
    const stored = given.acceptChanges ? undefined : await world.sources(run);
    const loose = looseLibrary(run.cwd, { agent: settings.agent, ...ownAgents }, stored);
    const library = loose.unpackingInto(source);
    await loadWorkflows(library, run, ({ message, remedy }) =>
      door.notice({ kind: 'trouble', message, remedy }),
    );
    const accepted = files
      ? [...files.keys()]
      : world.keepsSources && !given.acceptChanges
        ? []
        : await acceptedChanges(run, library, given, door);
    const refs = [run.workflow, ...[...run.workflowFiles].map(([ref]) => ref)];
    if (!given.all) reportFaults(library, refs, accepted, door, options);
    const prepared = await world.prepare({
      ...{ id, cwd: run.cwd, startedAt: run.startedAt, workflow: run.workflow, isNew: false },
      ...{ settings, refs, library, loose, options, given: {} },
    });
    give(door, [...prepared.notices, ...agentNotices(settings)]);
    const { input, fresh } = given;
    const first = { kind: 'resume', at: clock.now(), settings, input, accepted, fresh } as const;
    const usual = library.get(run.workflow)?.agents.usual;
    if (usual !== undefined) await checkNames(usual, settings, options);
    const held = { lease, journal, first: [first], accepted, patient };
    const begun = await prepared.begin(run, held);
    give(door, begun.notices);
    return { kind: 'begun', begun: { ...begun, options, log } };
  } catch (error) {
    log?.close();
    await lease.release();
    throw error;
  }
}

/** Continues a run that goes on when this process ends. */
export async function relaunch(
  around: Surroundings,
  id: string,
  { detach: _, ...given }: ResumeOptions,
  door: Door,
): Promise<LaunchedRun> {
  const config = await readConfiguration(around.project);
  const options = overlaid(config.options, given);
  const command = { kind: 'resume', name: id, options: given } as const;
  const carrier = await around.world.inBackground(id, command, door.notice);
  if (carrier) return { id, carrier, options };
  const { kind } = await resume(around, id, given, door);
  return { id, carrier: { kind: kind === 'begun' ? 'workers' : 'nobody' }, options };
}

/** The journal of a stranger also says which files it has read, so the files of now are shown. */
export async function filesNow(run: Run, agents: Pick<RunOptions, 'agents'>): Promise<FilesNow> {
  const library = looseLibrary(run.cwd, agents);
  await loadWorkflows(library, run, () => {});
  const refs = [run.workflow, ...[...run.agents].map(([, { workflow }]) => workflow)];
  const all = new Set([...refs, ...[...run.workflowFiles].map(([ref]) => ref)]);
  return new Map([...all].map((ref) => [ref, Object.keys(library.get(ref)?.files ?? {})]));
}

/** Refuses an input that no agent would receive. */
async function checkReceiver(store: RunStore, run: Run): Promise<void> {
  const { id, tally } = run;
  if (tally.asking === 0 && tally.failed > 0) return;
  const isAnswered = (await openByKind(store, run)).questions.some((one) => one.isAnswered);
  if (tally.asking === 1 && !isAnswered) return;
  if (isAnswered)
    throw new UserError(
      'question-answered',
      `A question of ${id} already has an answer. The run uses it when it continues.`,
      `Omit --input: raymond resume ${id}`,
    );
  throw tally.asking === 0
    ? wrongUsage(
        `No agent of ${id} waits for a value, so --input has no receiver.`,
        'Omit --input.',
      )
    : wrongUsage(
        `${tally.asking} agents of ${id} have a question, so it is unclear which one --input answers.`,
        `Answer each one: raymond answer ${id} --agent <id> "..."`,
      );
}

async function salvage(lease: Lease): Promise<readonly string[]> {
  const salvaged = await lease.salvage();
  if (!salvaged) return [];
  const { seq, lostBytes, brokenFile } = salvaged;
  const broken = brokenFile
    ? [`${counted(lostBytes, 'byte')} could not be kept.`, `The damaged file is ${brokenFile}`]
    : [];
  return [`The journal continues after event ${seq}.`, ...broken];
}
