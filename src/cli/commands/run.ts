import { createJournal } from '../../journal/file-journal.ts';
import { makeProject } from '../../journal/project.ts';
import { checkRunId, newRunId } from '../../journal/run-id.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { RunEvent } from '../../model/event.ts';
import { JOURNAL_VERSION } from '../../model/event.ts';
import { UserError } from '../../model/user-error.ts';
import type { Workflow } from '../../model/workflow.ts';
import { readConfigFile } from '../config-file.ts';
import { leftBehind } from '../left-behind.ts';
import { type RunOptions, wrongUsage } from '../options.ts';
import { workOn } from '../run-process.ts';
import { metadataFrom, settingsFrom } from '../settings.ts';
import {
  clock,
  codec,
  currentProject,
  disk,
  executors,
  libraryFor,
  lockRun,
  pathsOf,
} from '../wire.ts';

/** Starts a run of a workflow and works on it until it ends. */
export async function run(path: string | undefined, given: RunOptions): Promise<number> {
  if (path === undefined)
    throw wrongUsage('No workflow is named.', 'Name one, or see: raymond --help');
  const cwd = process.cwd();
  const project = await currentProject(cwd);
  const options = { ...(await readConfigFile(project.configFile)), ...given };
  const metadata = metadataFrom(options.set ?? []);

  const unnamed = pathsOf(project, 'unnamed');
  const workflow = await libraryFor(unnamed, cwd).load(path);
  report(workflow);
  const id =
    options.workflowId === undefined ? newRunId(workflow.name) : checkRunId(options.workflowId);
  const paths = pathsOf(project, id);
  const library = libraryFor(paths, cwd);
  await library.load(workflow.ref);
  for (const notice of await leftBehind(project)) process.stderr.write(`${notice}\n`);

  if (options.dangerouslySkipPermissions) process.stderr.write(SKIP_WARNING);
  await makeProject(disk, project);
  const lock = await lockRun(paths);
  try {
    const journal = await createJournal(disk, paths.journal, codec);
    const started: RunEvent = {
      type: 'run-started',
      version: JOURNAL_VERSION,
      at: clock.now(),
      run: id,
      workflow: workflow.ref,
      state: workflow.entry,
      cwd,
      settings: settingsFrom({ ...defaultBudget(workflow), ...options }),
      metadata,
      ...(options.input !== undefined && { input: options.input }),
    };
    const begun = codec.apply(undefined, started);
    await journal.append([started], begun);
    return await workOn(begun, [], {
      project,
      paths,
      library,
      journal,
      executors: executors(options.claudePath),
      options,
      started,
    });
  } finally {
    await lock.release();
  }
}

const SKIP_WARNING = `WARNING: --dangerously-skip-permissions lets the agent run any command and change any file,
without asking, with your rights. Use it only for workflows that you trust, where nothing can be lost.
`;

function defaultBudget({ about }: Workflow): RunOptions {
  return about.defaultBudgetUsd === undefined ? {} : { budget: about.defaultBudgetUsd };
}

/** Says what is wrong with a workflow; refuses one that cannot begin. */
function report(workflow: Workflow): void {
  for (const diagnostic of workflow.diagnostics) {
    if (diagnostic.severity !== 'note') process.stderr.write(`${diagnosticLine(diagnostic)}\n`);
  }
  const entry = workflow.states.get(workflow.entry);
  if (entry?.kind === 'broken') {
    const problem = entry.diagnostics[0];
    throw new UserError(
      'broken-workflow',
      problem ? diagnosticLine(problem) : `${entry.name} cannot be read.`,
      'Correct the file.',
    );
  }
}

function diagnosticLine({ file, line, column, severity, message, remedy }: Diagnostic): string {
  return `${file}:${line}:${column}: ${severity}: ${message}${remedy ? ` ${remedy}` : ''}`;
}
