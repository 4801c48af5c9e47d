import { usualTurnCosts } from '../forecast/forecast.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import { readWorkflow } from '../interpret/read-workflows.ts';
import { defaultBudgetUsd, entryInput } from '../interpret/workflow-defaults.ts';
import { checkRunId, newRunId } from '../journal/run-id.ts';
import type { LooseLibrary } from '../load/load.ts';
import type { RunEvent, Settings } from '../model/event.ts';
import { JOURNAL_VERSION } from '../model/event.ts';
import { type Door, type LogFile, type Notice, warnings } from '../model/notice.ts';
import { shellWord } from '../model/shell-word.ts';
import type { StartedBy } from '../model/trigger.ts';
import { UserError } from '../model/user-error.ts';
import type { Workflow } from '../model/workflow.ts';
import { usd } from '../observe/words.ts';
import { overlaid } from '../options/chosen-options.ts';
import type { RunOptions } from '../options/run-options.ts';
import { wrongUsage } from '../options/wrong-usage.ts';
import { limitsOf } from '../parse/limits.ts';
import type { Ground, RunStore } from '../ports.ts';
import type { Carrier } from '../world/background.ts';
import { configurationFor, ignoredKeys, readConfiguration } from '../world/config/configuration.ts';
import { lessonsOf } from '../world/config/lessons.ts';
import { withNormalChoices } from '../world/config/normal-choices.ts';
import { metadataFrom, settingsFrom } from '../world/config/settings.ts';
import { groundOf } from '../world/ground.ts';
import { loadNamed } from '../world/load-workflows.ts';
import { unsealedNotice } from '../world/sealed-choices.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { checkNames, looseLibrary } from '../world/wire.ts';
import { confirmCost, countsOfRun } from './bound.ts';
import { pastRuns } from './past-runs.ts';
import { refuseFaulty } from './refuse-faulty.ts';
import { agentNotices, give, openedLog, type StartedRun } from './started-run.ts';

export interface StartOptions extends RunOptions {
  /** Workflows that changed after this time are refused: the caller may have written them. */
  readonly unchangedSince?: number | undefined;
  /** The occasion that starts the run. */
  readonly startedBy?: StartedBy | undefined;
}

/** Begins a run of a workflow. The caller attends it. */
export async function start(
  around: Surroundings,
  path: string,
  given: StartOptions,
  door: Door,
): Promise<StartedRun> {
  const { cwd, project, store, clock, world } = around;
  const chosen = withNormalChoices(given, 'The command line');
  const config = await configurationFor(project, chosen);
  give(door, warnings(ignoredKeys(config)));
  const options = overlaid(config.options, chosen);
  const metadata = metadataFrom(options.set ?? []);
  checkTogether(options);
  await checkNames(undefined, settingsFrom(options), options);
  const loose = looseLibrary(cwd, options);
  const workflow = await loose.load(path);
  await checkNames(workflow.agents.usual, settingsFrom(options), options);
  refuseFaulty(loose, workflow, door, options);
  const input = inputFor(workflow, options);
  await confirmCost(
    { store, library: loose, workflow },
    { ...options, startedBy: given.startedBy },
    door,
  );
  const id =
    options.workflowId === undefined ? newRunId(workflow.name) : checkRunId(options.workflowId);
  const { source, tasks } = around.workspace(id);
  const library = loose.unpackingInto(source);
  const refs = await loadNamed(library, workflow.ref);
  for (const ref of refs) {
    const named = ref === workflow.ref ? undefined : library.get(ref);
    if (named) refuseFaulty(library, named, door, options);
  }
  const settings = settingsFrom(overlaid(ownDefaults(workflow, options), options));
  if (!settings.rehearse && given.unchangedSince !== undefined) {
    const since = { cwd, startedAt: given.unchangedSince };
    await refuseChanged(refs, await groundOf(since, library, tasks));
  }
  const startedAt = clock.now();
  const prepared = await world.prepare({
    ...{ id, cwd, startedAt, workflow: workflow.ref, isNew: true, settings, refs },
    ...{ library, loose, options, given },
  });
  give(door, prepared.notices);
  give(door, [...budgetNotice(workflow, options), ...agentNotices(settings)]);
  const lease = await store.lease(id);
  let log: LogFile | undefined;
  try {
    log = openedLog(door, options, around);
    const bound = await countsOfRun(loose, workflow, options);
    const started: RunEvent = {
      type: 'run-started',
      version: JOURNAL_VERSION,
      at: startedAt,
      run: id,
      workflow: workflow.ref,
      state: workflow.entry,
      cwd,
      settings,
      metadata,
      ...(input !== undefined && { input }),
      ...(bound &&
        bound.prompts !== 0 &&
        !settings.rehearse && {
          bound: {
            agents: bound.agents,
            ...(bound.prompts !== null && { prompts: bound.prompts }),
          },
        }),
      ...(given.startedBy && { startedBy: given.startedBy }),
      ...(await lessonsFor(library, refs, workflow.ref)),
      ...(await usualTurns(store, workflow, settings)),
    };
    const read = refs.flatMap((ref) => readWorkflow(library.get, ref, started.at));
    const first = [started, ...read];
    const { run, shown } = firstEvents(first);
    const kept = await prepared.kept?.();
    const { journal, unsealed } = await lease.create(first, run, kept);
    give(door, warnings(unsealedNotice(id, unsealed)));
    const begun = await prepared.begin(run, { lease, journal, first: [], begun: shown });
    return { ...begun, options, log };
  } catch (error) {
    log?.close();
    await lease.release();
    throw error;
  }
}

/** A run that continues without this process. */
export interface LaunchedRun {
  readonly id: string;
  readonly carrier: Carrier;
  /** With those of the config files. */
  readonly options: RunOptions;
}

/** Begins a run that continues when this process ends. */
export async function launch(
  around: Surroundings,
  path: string,
  { detach: _, ...given }: StartOptions,
  door: Door,
): Promise<LaunchedRun> {
  const { cwd, project, store, world } = around;
  const config = await readConfiguration(project);
  const options = overlaid(config.options, given);
  const loose = looseLibrary(cwd, options);
  const workflow = await loose.load(path);
  refuseEarly(loose, workflow, options, door);
  await confirmCost(
    { store, library: loose, workflow },
    { ...options, startedBy: given.startedBy },
    door,
  );
  const id =
    given.workflowId === undefined ? newRunId(workflow.name) : checkRunId(given.workflowId);
  // The background process has no person to ask.
  const chosen: StartOptions = { ...given, workflowId: id, confirmAbove: 0 };
  const command = { kind: 'run', name: path, options: chosen } as const;
  const carrier = await world.inBackground(id, command, door.notice);
  if (carrier) return { id, carrier, options };
  await start(around, path, chosen, door);
  return { id, carrier: { kind: 'workers' }, options };
}

/** What is refused here leaves no folder behind. The start gives the notices of everything else. */
function refuseEarly(
  loose: LooseLibrary,
  workflow: Workflow,
  options: RunOptions,
  door: Door,
): void {
  const notices: Notice[] = [];
  try {
    checkTogether(options);
    const silent = { ...door, notice: (notice: Notice) => void notices.push(notice) };
    refuseFaulty(loose, workflow, silent, options);
    inputFor(workflow, options);
  } catch (error) {
    give(door, notices);
    throw error;
  }
}

function checkTogether({ scripts, rehearse, rehearsal, remote, sharedDirectory }: RunOptions) {
  if (scripts && !rehearse && rehearsal === undefined)
    throw wrongUsage('--scripts works only in a rehearsal.', 'Add --rehearse, or omit --scripts.');
  if (remote !== undefined && sharedDirectory)
    throw wrongUsage('--remote and --shared-directory contradict each other.', 'Omit one of them.');
}

/** After the load, so a change between the check and the load is noticed. */
async function refuseChanged(refs: readonly string[], { lookAtWorkflow }: Ground): Promise<void> {
  for (const ref of refs) {
    if ((await lookAtWorkflow(ref)).unchanged) continue;
    throw new UserError(
      'changed-workflow',
      `The workflow ${ref} has changed since this server was started.`,
      `Ask a person to check it and to start it: raymond ${shellWord(refs[0] ?? ref)}. They can also start this server again.`,
      { file: ref },
    );
  }
}

/** Lessons for a workflow whose states get notes. */
async function lessonsFor(
  library: Pick<LooseLibrary, 'get'>,
  refs: readonly string[],
  workflow: string,
) {
  const states = refs.flatMap((ref) => [...(library.get(ref)?.states.values() ?? [])]);
  if (!states.some((state) => limitsOf(state).notes)) return {};
  const lessons = await lessonsOf(workflow);
  return lessons.length > 0 ? { lessons } : {};
}

/** What turns cost in finished runs decides how many of this run's turns its budget covers. */
async function usualTurns(store: RunStore, workflow: Workflow, settings: Settings) {
  const { ref, files, states } = workflow;
  // A single agent has the whole budget, and finished runs take a moment to read.
  const canFork = [...states.values()].some(
    (state) =>
      (state.kind === 'prompt' && state.template.includes('fork')) ||
      (state.kind === 'script' && state.text.includes('fork')),
  );
  if (!canFork || settings.budgetUsd === 0 || settings.rehearse) return {};
  const usualTurnsUsd = usualTurnCosts(await pastRuns(store, ref, files));
  return Object.keys(usualTurnsUsd).length > 0 ? { usualTurnsUsd } : {};
}

/** The run after its first events, and each of them with the run before and after it. */
function firstEvents(events: readonly RunEvent[]) {
  let run = newRun;
  const shown = events.map((event, index) => {
    const before = index === 0 ? undefined : run;
    run = apply(run, event);
    return { event, before, after: run };
  });
  return { run, shown };
}

/** An endless loop costs nothing in a rehearsal, so the budget would not end it. */
const REHEARSED_ITERATIONS = 1000;

function ownDefaults({ about }: Workflow, { rehearse, rehearsal }: RunOptions): RunOptions {
  return {
    budget: defaultBudgetUsd(about),
    ...((rehearse || rehearsal !== undefined) && { maxIterations: REHEARSED_ITERATIONS }),
  };
}

function inputFor(workflow: Workflow, { input: given }: RunOptions): string | undefined {
  const received = entryInput(workflow, given);
  if (received.ok) return received.input;
  throw new UserError(
    'input-missing',
    `There is no input, but ${received.problem}.`,
    'Give it with --input "…".',
  );
}

/** A workflow may lower the default budget. Only the user may raise it. */
function budgetNotice({ about }: Workflow, { budget }: RunOptions): readonly Notice[] {
  const { defaultBudgetUsd: asked = 0 } = about;
  const { budgetUsd: usual } = newRun.settings;
  if (budget !== undefined || asked <= usual) return [];
  return warnings([
    `The workflow asks for a budget of ${usd(asked)}, but the default is ${usd(usual)}. To allow it: --budget ${asked}`,
  ]);
}
