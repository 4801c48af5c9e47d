import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { withinReach } from '../../graph/within-reach.ts';
import { apply } from '../../interpret/apply.ts';
import { newRun } from '../../interpret/new-run.ts';
import { readWorkflow } from '../../interpret/read-workflows.ts';
import { defaultBudgetUsd, entryInput } from '../../interpret/workflow-defaults.ts';
import { checkRunId, newRunId } from '../../journal/run-id.ts';
import { cannotBranch } from '../../lint/agents.ts';
import type { LooseLibrary } from '../../load/load.ts';
import type { RunEvent, Settings } from '../../model/event.ts';
import { JOURNAL_VERSION } from '../../model/event.ts';
import { shellWord } from '../../model/shell-word.ts';
import type { StateName } from '../../model/state-name.ts';
import { UserError } from '../../model/user-error.ts';
import type { Workflow } from '../../model/workflow.ts';
import { usd } from '../../observe/words.ts';
import { overlaid } from '../../options/chosen-options.ts';
import type { RunOptions } from '../../options/run-options.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { isStateFile } from '../../parse/state.ts';
import type { WorkflowLibrary } from '../../ports.ts';
import { agent } from '../agent.ts';
import type { CarryRun } from '../carry-here.ts';
import { checkAbilities, checkAgents, checkSettings, travelWarnings } from '../check-agents.ts';
import { configurationFor, ignoredKeys } from '../configuration.ts';
import { detach } from '../detach.ts';
import { diagnosticLine, placed } from '../diagnostic-line.ts';
import { announce, followWorkers, type HandOver } from '../follow-workers.ts';
import { leftBehind } from '../left-behind.ts';
import { loadNamed } from '../load-named.ts';
import { openLog } from '../log-file.ts';
import { withNormalChoices } from '../normal-choices.ts';
import { unsealedNotice } from '../own-runs.ts';
import { runAtTerminal } from '../run-at-terminal.ts';
import { metadataFrom, settingsFrom } from '../settings.ts';
import type { Here, Surroundings } from '../surroundings.ts';
import { stderr } from '../terminal.ts';
import { approvalsOf } from '../trust.ts';
import { checkNames, executors, looseLibrary } from '../wire.ts';
import { runWorld } from '../world.ts';

export interface StartOptions extends RunOptions {
  /** Workflows that changed after this time are refused: the caller may have written them. */
  readonly unchangedSince?: number | undefined;
}

/**
 * Starts a run of a workflow and works on it until it ends. Workers carry a run in a database. Then
 * `handOver` follows it.
 */
export async function run(
  here: Here,
  path: string | undefined,
  given: StartOptions,
  carry: CarryRun = runAtTerminal,
  handOver: HandOver = given.detach ? announce : followWorkers,
): Promise<number> {
  if (path === undefined)
    throw wrongUsage('No workflow is named.', 'Name one. To see all commands: raymond --help');
  const around = await here();
  const { cwd, project, store, clock } = around;
  const chosen = withNormalChoices(given, 'The command line');
  const config = await configurationFor(project, chosen);
  stderr.say(...ignoredKeys(config));
  const options = overlaid(config.options, chosen);
  const metadata = metadataFrom(options.set ?? []);
  if (options.scripts && !options.rehearse && options.rehearsal === undefined)
    throw wrongUsage('--scripts works only in a rehearsal.', 'Add --rehearse, or omit --scripts.');

  await checkNames(undefined, settingsFrom(options), options);
  const loose = looseLibrary(cwd, options);
  const workflow = await loose.load(path);
  await checkNames(workflow.agents.usual, settingsFrom(options), options);
  const reached = withinReach(workflow);
  report(loose, workflow, reached);
  const input = inputFor(workflow, options);
  const id =
    options.workflowId === undefined ? newRunId(workflow.name) : checkRunId(options.workflowId);
  const workspace = around.workspace(id);
  const library = loose.unpackingInto(workspace.source);
  const named = await loadNamed(library, workflow.ref);
  const settings = settingsFrom(overlaid(ownDefaults(workflow, options), options));
  if (!settings.rehearse)
    await refuseChanged({ named, library, cwd, tasks: workspace.tasks }, given);
  if (around.database && settings.rehearse) throw rehearsalHere();
  checkPlace(options, given, around.database !== undefined);
  // The agents of a run in a database are on the machines of the workers.
  const check = around.database ? checkAbilities : checkAgents;
  const checked = { library, refs: named, settings, given: options };
  if (!settings.rehearse) stderr.say(...check(checked));
  if (around.database) stderr.say(...travelWarnings(checked));
  else if (!settings.rehearse)
    stderr.say(...checkSettings(checked, cwd, await approvalsOf(dirname(project.folder))));
  const startedAt = clock.now();
  const choice = { run: id, startedAt, settings, workflow: workflow.ref, library, given: options };
  const ports = around.database ? undefined : await executors(around, choice);
  // Workers also continue what a crash has left.
  if (!around.database) for (const notice of await leftBehind(store)) stderr.offer(notice);
  stderr.say(...budgetNotice(workflow, options));

  if (settings.rehearse) stderr.say(rehearsalNotice(settings));
  if (!settings.rehearse) stderr.say(...agent.warningsOf(settings.agent));
  if (!around.database) await around.makeProject();
  const log = options.logFile === undefined ? undefined : openLog(options.logFile, around.project);
  await workspace.check();
  if (options.detach && !around.database) {
    const { detach: _, ...others } = given;
    const command = { kind: 'run', name: path, options: { ...others, workflowId: id } } as const;
    return detach(around, { run: id, command, relay: false }, options);
  }
  const lease = await store.lease(id);
  try {
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
    };
    const read = named.flatMap((ref) => readWorkflow(library.get, ref, started.at));
    const { run: begun, shown } = begin(started, read);
    const kept = around.database && (await keptFor(around, { id, named, loose, options }));
    const { journal, unsealed } = await lease.create([started, ...read], begun, kept);
    stderr.say(...unsealedNotice(id, unsealed));
    // A run of this name may have been deleted with its project.
    if (ports && existsSync(workspace.tasks)) await rm(workspace.tasks, { recursive: true });
    if (!ports) {
      await lease.release();
      return await handOver(around, { run: begun, from: 1, options, log });
    }
    return await carry(begun, [], {
      around,
      lease,
      library,
      journal,
      executors: ports,
      options,
      log,
      begun: shown,
    });
  } finally {
    await lease.release();
  }
}

/** After the load, so a change between the check and the load is noticed. */
async function refuseChanged(
  {
    named,
    library,
    cwd,
    tasks,
  }: {
    readonly named: readonly string[];
    readonly library: WorkflowLibrary;
    readonly cwd: string;
    readonly tasks: string;
  },
  { unchangedSince: startedAt }: StartOptions,
): Promise<void> {
  if (startedAt === undefined) return;
  const { lookAtWorkflow } = await runWorld({ cwd, startedAt }, library, tasks);
  for (const ref of named) {
    if ((await lookAtWorkflow(ref)).unchanged) continue;
    throw new UserError(
      'changed-workflow',
      `The workflow ${ref} has changed since this server was started.`,
      `Ask a person to check it and to start it: raymond ${shellWord(named[0] ?? ref)}. They can also start this server again.`,
      { file: ref },
    );
  }
}

/** The things that workers on other machines need. */
async function keptFor(
  around: Surroundings,
  {
    id,
    named,
    loose,
    options,
  }: {
    readonly id: string;
    readonly named: readonly string[];
    readonly loose: LooseLibrary;
    readonly options: RunOptions;
  },
) {
  const { keptWithRun } = await import('../kept-with-run.ts');
  const { remote, sharedDirectory } = options;
  if (remote === undefined && !sharedDirectory) stderr.offer(PLACE_NOTICE);
  return keptWithRun(around, { id, workflows: named, library: loose, remote });
}

const PLACE_NOTICE =
  'Workers on other machines need this directory at the same path. Declare it with --shared-directory, or let the files travel through git with --remote.';

function checkPlace(
  { remote, sharedDirectory }: RunOptions,
  given: RunOptions,
  hasDatabase: boolean,
): void {
  if (remote !== undefined && sharedDirectory)
    throw wrongUsage('--remote and --shared-directory contradict each other.', 'Omit one of them.');
  if (given.remote !== undefined && !hasDatabase)
    throw wrongUsage('--remote works only with a database.', 'Add --database, or omit --remote.');
}

function rehearsalHere(): UserError {
  return wrongUsage(
    'A rehearsal runs on this machine, and not in a database.',
    'Add --database none.',
  );
}

/** The run after its first events, and each of them with the run before and after it. */
function begin(started: RunEvent, others: readonly RunEvent[]) {
  let run = apply(newRun, started);
  const first = { event: started, before: undefined, after: run };
  const rest = others.map((event) => {
    const before = run;
    run = apply(before, event);
    return { event, before, after: run };
  });
  return { run, shown: [first, ...rest] };
}

export function rehearsalNotice({ rehearseScripts }: Settings): string {
  return rehearseScripts
    ? 'Rehearsal: Raymond calls no model and spends nothing. It executes scripts (--scripts).'
    : 'Rehearsal: Raymond calls no model, executes no script and spends nothing.';
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
function budgetNotice({ about }: Workflow, { budget }: RunOptions): readonly string[] {
  const { defaultBudgetUsd: asked = 0 } = about;
  const { budgetUsd: usual } = newRun.settings;
  if (budget !== undefined || asked <= usual) return [];
  return [
    `The workflow asks for a budget of ${usd(asked)}, but the default is ${usd(usual)}. To allow it: --budget ${asked}`,
  ];
}

/** Reports the faults of a workflow. Refuses it if an agent could reach a broken state. */
function report(library: LooseLibrary, workflow: Workflow, reached: readonly StateName[]): void {
  const files = new Set(reached.map((name) => fileOf(workflow, name)));
  const diagnostics = [...workflow.diagnostics, ...cannotBranch(workflow)];
  const concerned = diagnostics.filter(
    ({ file, severity }) => severity !== 'note' && (files.has(file) || !isStateFile(file)),
  );
  for (const diagnostic of concerned) {
    stderr.say(diagnosticLine(placed(library, workflow, diagnostic)));
  }
  const first = concerned.find(({ severity }) => severity === 'error');
  if (first) {
    const { line, column } = first;
    throw new UserError(
      'broken-workflow',
      `The workflow ${workflow.name} has errors.`,
      `Fix them. To see all of them: raymond lint ${shellWord(workflow.ref)}`,
      { file: library.pathOf(workflow.ref, first.file), line, column },
    );
  }
}

function fileOf({ states }: Workflow, name: StateName): string {
  const state = states.get(name);
  if (state?.kind === 'broken') return state.diagnostics[0]?.file ?? name;
  return state?.place.file ?? name;
}
