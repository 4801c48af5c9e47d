import { withinReach } from '../../graph/within-reach.ts';
import { newRun } from '../../interpret/new-run.ts';
import { readWorkflow } from '../../interpret/read-workflows.ts';
import { createJournal } from '../../journal/file-journal.ts';
import { makeProject } from '../../journal/project.ts';
import { checkRunId, newRunId } from '../../journal/run-id.ts';
import { workspaceOf } from '../../journal/workspace.ts';
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
import { ignoredKeys, readConfiguration } from '../configuration.ts';
import { diagnosticLine, placed } from '../diagnostic-line.ts';
import { leftBehind } from '../left-behind.ts';
import { loadNamed } from '../load-named.ts';
import { openLog } from '../log-file.ts';
import { inOneVoice } from '../one-voice.ts';
import { sealRun } from '../own-runs.ts';
import { runAtTerminal } from '../run-at-terminal.ts';
import { metadataFrom, settingsFrom } from '../settings.ts';
import { clock, codec, currentProject, disk, lockRun, pathsOf } from '../store.ts';
import { stderr } from '../terminal.ts';
import { agent, checkAgent, checkNames, executors, looseLibrary } from '../wire.ts';

/** Starts a run of a workflow and works on it until it ends. */
export async function run(path: string | undefined, given: RunOptions): Promise<number> {
  if (path === undefined)
    throw wrongUsage('No workflow is named.', 'Name one, or see: raymond --help');
  const cwd = process.cwd();
  const project = await currentProject(cwd);
  const config = await readConfiguration(project);
  stderr.say(...ignoredKeys(config));
  const options = overlaid(config.options, inOneVoice(given, 'The command line'));
  const metadata = metadataFrom(options.set ?? []);
  if (options.scripts && !options.rehearse && options.rehearsal === undefined)
    throw wrongUsage('--scripts belongs to a rehearsal.', 'Add --rehearse, or leave it out.');
  await checkNames(settingsFrom(options), options.agent);

  const loose = looseLibrary(cwd);
  const workflow = await loose.load(path);
  const reached = withinReach(workflow);
  report(loose, workflow, reached);
  const id =
    options.workflowId === undefined ? newRunId(workflow.name) : checkRunId(options.workflowId);
  const paths = pathsOf(project, id);
  const library = loose.unpackingInto(paths.source);
  const named = await loadNamed(library, workflow.ref);
  const settings = settingsFrom(overlaid(ownDefaults(workflow, options), options));
  const asks = reached.some((name) => workflow.states.get(name)?.kind === 'prompt');
  if (asks && !settings.rehearse) checkAgent(options.agent);
  const chosen = await executors({
    settings,
    workflow: workflow.ref,
    library,
    paths,
    given: options.agent,
  });
  for (const notice of await leftBehind(project)) stderr.offer(notice);
  stderr.say(...budgetNotice(workflow, options));

  if (settings.rehearse) stderr.say(rehearsalNotice(settings));
  if (!settings.rehearse) stderr.say(...agent.warningsOf(settings.agent));
  await makeProject(disk, project);
  const log = options.logFile === undefined ? undefined : openLog(options.logFile);
  await workspaceOf(project, id).check();
  const lock = await lockRun(paths);
  try {
    const journal = await createJournal(disk, paths.journal, codec, lock);
    const started: RunEvent = {
      type: 'run-started',
      version: JOURNAL_VERSION,
      at: clock.now(),
      run: id,
      workflow: workflow.ref,
      state: workflow.entry,
      cwd,
      settings,
      metadata,
      ...(options.input !== undefined && { input: options.input }),
    };
    const read = named.flatMap((ref) => readWorkflow(library.get, ref, started.at));
    const { run: begun, shown } = begin(started, read);
    const unsealed = await sealRun(paths, begun).catch(async (error) => {
      throw await journal.abandon(error);
    });
    stderr.say(...unsealed);
    await journal.append([started, ...read], begun);
    return await runAtTerminal(begun, [], {
      project,
      paths,
      library,
      journal,
      executors: chosen,
      options,
      log,
      begun: shown,
    });
  } finally {
    await lock.release();
  }
}

/** The run after its first events, and each of them with the run before and after it. */
function begin(started: RunEvent, others: readonly RunEvent[]) {
  let run = codec.apply(undefined, started);
  const first = { event: started, before: undefined, after: run };
  const rest = others.map((event) => {
    const before = run;
    run = codec.apply(before, event);
    return { event, before, after: run };
  });
  return { run, shown: [first, ...rest] };
}

export function rehearsalNotice({ rehearseScripts }: Settings): string {
  return rehearseScripts
    ? 'Rehearsal: no model is asked, nothing is paid. Scripts are executed (--scripts).'
    : 'Rehearsal: no model is asked, no script is executed, nothing is paid.';
}

/** A loop that nobody ends costs nothing in a rehearsal, but it would not end. */
const REHEARSED_ITERATIONS = 1000;

function ownDefaults({ about }: Workflow, { rehearse, rehearsal }: RunOptions): RunOptions {
  return {
    ...(about.defaultBudgetUsd !== undefined && {
      budget: Math.min(about.defaultBudgetUsd, newRun.settings.budgetUsd),
    }),
    ...((rehearse || rehearsal !== undefined) && { maxIterations: REHEARSED_ITERATIONS }),
  };
}

/** A workflow may lower the usual budget. To raise it is left to the person who pays. */
function budgetNotice({ about }: Workflow, { budget }: RunOptions): readonly string[] {
  const { defaultBudgetUsd: asked = 0 } = about;
  const { budgetUsd: usual } = newRun.settings;
  if (budget !== undefined || asked <= usual) return [];
  return [
    `The workflow asks for a budget of ${usd(asked)}, but only you can raise the usual ${usd(usual)}: --budget ${asked}`,
  ];
}

/** Says what is wrong with a workflow; refuses one in which an agent could come upon a broken state. */
function report(library: LooseLibrary, workflow: Workflow, reached: readonly StateName[]): void {
  const files = new Set(reached.map((name) => fileOf(workflow, name)));
  const concerned = workflow.diagnostics.filter(
    ({ file, severity }) => severity !== 'note' && files.has(file),
  );
  for (const diagnostic of concerned) {
    stderr.say(diagnosticLine(placed(library, workflow, diagnostic)));
  }
  if (concerned.some(({ severity }) => severity === 'error')) {
    throw new UserError(
      'broken-workflow',
      `The workflow ${workflow.name} has errors.`,
      `Correct them; to see all: raymond lint ${shellWord(workflow.ref)}`,
    );
  }
}

function fileOf({ states }: Workflow, name: StateName): string {
  const state = states.get(name);
  if (state?.kind === 'broken') return state.diagnostics[0]?.file ?? name;
  if (state?.kind === 'script') return state.origin?.file ?? name;
  return state?.file ?? name;
}
