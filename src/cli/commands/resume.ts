import { RunProcesses } from '../../execute/process/index.ts';
import { apply } from '../../interpret/apply.ts';
import { newRun } from '../../interpret/new-run.ts';
import { openJournal } from '../../journal/file-journal.ts';
import { findRun } from '../../journal/find-run.ts';
import { journalOfAnother } from '../../journal/journal-errors.ts';
import { makeProject, type Project, type RunPaths } from '../../journal/project.ts';
import { readEvents } from '../../journal/read-journal.ts';
import { salvage } from '../../journal/salvage.ts';
import { freeze } from '../../journal/state-file.ts';
import { writeState } from '../../journal/state-writer.ts';
import { workspaceOf } from '../../journal/workspace.ts';
import type { Run } from '../../model/run.ts';
import { shellWord } from '../../model/shell-word.ts';
import { UserError } from '../../model/user-error.ts';
import { overlaid } from '../../options/chosen-options.ts';
import type { RunOptions } from '../../options/run-options.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import type { WorkflowLibrary, Workspace } from '../../ports.ts';
import { acceptedChanges } from '../changed-workflows.ts';
import { ignoredKeys, readConfiguration } from '../configuration.ts';
import { dueRuns } from '../due-runs.ts';
import { acceptForeign } from '../foreign-run.ts';
import { refuseInside } from '../inside.ts';
import { loadNamed } from '../load-named.ts';
import { openLog } from '../log-file.ts';
import { inOneVoice } from '../one-voice.ts';
import { FOREIGN, isOwnRun, sealRun } from '../own-runs.ts';
import { questionsOf } from '../questions.ts';
import { runAtTerminal } from '../run-at-terminal.ts';
import { allRuns, condition, type FoundRun } from '../runs.ts';
import { settingsFrom } from '../settings.ts';
import { clock, codec, currentProject, disk, lockRun, pathsOf } from '../store.ts';
import { stderr, stdout } from '../terminal.ts';
import { agent, type ChosenExecutors, checkNames, executors, libraryFor } from '../wire.ts';
import { rehearsalNotice } from './run.ts';

export interface ResumeOptions extends RunOptions {
  readonly all?: boolean;
  readonly salvage?: boolean;
  readonly fresh?: boolean;
  readonly trustRun?: boolean;
  readonly acceptChanges?: boolean;
}

/** Goes on with a run, or with every run that can go on by itself. */
export async function resume(name: string | undefined, given: ResumeOptions): Promise<number> {
  const options = inOneVoice(given, 'The command line');
  const project = await currentProject();
  if (name === undefined && !options.all)
    throw wrongUsage('No run is named.', 'Name one of: raymond list');
  const config = await readConfiguration(project);
  stderr.say(...ignoredKeys(config));
  return options.all || name === undefined
    ? resumeAll(project, options, config.options)
    : resumeOne(project, await findRun(disk, project, name), options, config.options);
}

/**
 * One run after the other; a question does not hold up the next run. Then those that wait for an
 * answer, each when it has come, or its deadline.
 */
async function resumeAll(
  project: Project,
  options: ResumeOptions,
  config: RunOptions,
): Promise<number> {
  const codes = new Map<string, number>();
  const waiting = new Set<string>();
  const goOn = async ({ id }: FoundRun) => {
    const code = await resumeOne(project, id, options, config, { patient: false }).catch(reportOne);
    codes.set(id, code);
    waiting.add(id);
    return code;
  };
  for (const found of await allRuns(project)) {
    if (!('run' in found)) continue;
    if (!found.isOwn && !options.trustRun) {
      if (canGoOn(found)) stderr.say(`Passed over: ${found.id} ${FOREIGN}`);
      continue;
    }
    if (condition(found) === 'waiting') waiting.add(found.id);
    if (!RESUMABLE.has(condition(found))) continue;
    if ((await goOn(found)) === INTERRUPTED) return INTERRUPTED;
  }
  const say = (line: string) => {
    if (!options.quiet && !options.json) stderr.say(line);
  };
  for await (const found of dueRuns(project, waiting, { ...options, say })) {
    if ((await goOn(found)) === INTERRUPTED) return INTERRUPTED;
  }
  if (codes.size === 0) stderr.say('There is nothing to resume.');
  return [...codes.values()].find((code) => code !== 0) ?? 0;
}

/** What is wrong with one run does not concern the next. */
function reportOne(error: unknown): number {
  if (!(error instanceof UserError)) throw error;
  stderr.error(error);
  return 1;
}

/** Whoever stops one run by Ctrl-C does not want the next one to begin. */
const INTERRUPTED = 130;

const RESUMABLE = new Set([
  'crashed',
  'failed',
  'interrupted',
  'paused',
  'stopped: budget',
  'stopped: iterations',
]);

function canGoOn(found: FoundRun): boolean {
  return RESUMABLE.has(condition(found)) || condition(found) === 'waiting';
}

async function resumeOne(
  project: Project,
  id: string,
  given: ResumeOptions,
  config: RunOptions,
  { patient = true } = {},
): Promise<number> {
  const paths = pathsOf(project, id);
  const workspace = workspaceOf(project, id);
  refuseInside(project, id, 'resume it');
  const options = overlaid(config, given);
  const log = options.logFile === undefined ? undefined : openLog(options.logFile);
  await makeProject(disk, project);
  const lock = await lockRun(paths);
  try {
    if (given.salvage) await salvageJournal(paths.journal);
    const { run, journal } = await openJournal(disk, paths.journal, codec, lock);
    const problem = journalOfAnother(id, run.id);
    if (problem) {
      await journal.close();
      throw problem;
    }
    if (run.status.kind === 'ended' && run.status.outcome === 'completed') {
      await journal.close();
      return await sayAgain(paths, run, given);
    }
    const settings = (await isOwnRun(paths, run))
      ? settingsFrom(given, run.settings)
      : await acceptForeign(run, workspace, given).catch(async (error) => {
          await journal.close();
          throw error;
        });
    await setLostStepsAside(workspace, run);
    if (given.input !== undefined) await checkReceiver(run, journal, paths);
    if (given.fresh && !given.all && run.tally.failed === 0) {
      await journal.close();
      throw wrongUsage(
        `No agent of ${id} has failed, so --fresh has nothing to do.`,
        'Leave it out.',
      );
    }
    const library = libraryFor(paths, run.cwd);
    await loadAll(library, run);
    const accepted = await acceptedChanges(run, library, given).catch(async (refusal) => {
      await journal.close();
      throw refusal;
    });
    if (!settings.rehearse) stderr.say(...agent.warningsOf(settings.agent));
    const { input, fresh } = given;
    const first = { kind: 'resume', at: clock.now(), settings, input, accepted, fresh } as const;
    await checkNames(settings, options.agent);
    if (settings.rehearse) stderr.say(rehearsalNotice(settings));
    const chosen = await executors({
      settings,
      workflow: run.workflow,
      library,
      paths,
      given: options.agent,
    });
    stderr.say(...(await sealRun(paths, { ...run, settings })));
    return await runAtTerminal(run, [first], {
      project,
      paths,
      library,
      journal,
      executors: chosen.rehearsal ? await rehearsedSoFar(chosen, paths.journal) : chosen,
      options,
      log,
      patient,
    });
  } finally {
    await lock.release();
  }
}

/** Whatever still runs of steps that the run does not know is ended, and what they left makes way. */
async function setLostStepsAside(workspace: Workspace, run: Run): Promise<void> {
  const lost = await workspace.unknownSteps(run);
  if (lost.length === 0) return;
  await new RunProcesses(workspace.folder).endSteps(lost);
  for (const step of lost) await workspace.setAside(step);
}

/** A value that nobody would receive is not swallowed. */
async function checkReceiver(
  run: Run,
  journal: { close(): Promise<void> },
  paths: RunPaths,
): Promise<void> {
  const { id, tally } = run;
  if (tally.asking === 0 && tally.failed > 0) return;
  const isAnswered = (await questionsOf(run, paths)).some((question) => question.isAnswered);
  if (tally.asking === 1 && !isAnswered) return;
  await journal.close();
  if (isAnswered)
    throw new UserError(
      'question-answered',
      `A question of ${id} has an answer already, which the run takes when it goes on.`,
      `Leave out --input: raymond resume ${id}`,
    );
  throw tally.asking === 0
    ? wrongUsage(`Nobody in ${id} waits for a value, so --input has no receiver.`, 'Leave it out.')
    : wrongUsage(
        `${tally.asking} agents of ${id} have a question, so it is not clear whom --input answers.`,
        `Answer each: raymond answer ${id} --agent <id> "..."`,
      );
}

/**
 * A process that was killed right after the end has neither shown the result nor written the state
 * file. So this is no mistake: whoever resumes until it works gets what the run has come to.
 */
async function sayAgain(paths: RunPaths, run: Run, { json }: RunOptions): Promise<number> {
  stderr.offer(`${run.id} is completed. See what it did: raymond show ${shellWord(run.id)}`);
  await writeState(disk, paths.stateFile, freeze(run));
  if (run.result !== undefined && !json) await stdout.result(run.result);
  return 0;
}

/**
 * Loads every workflow that the run has read, since it may enter it again. One that is gone fails only
 * the agents that are in it or return to it.
 */
async function loadAll(library: WorkflowLibrary, run: Run): Promise<void> {
  const needed = new Set([run.workflow]);
  for (const [, agent] of run.agents) {
    needed.add(agent.workflow);
    for (const frame of agent.stack) needed.add(frame.workflow);
  }
  for (const ref of new Set([...needed, ...[...run.workflowFiles].map(([read]) => read)])) {
    await library.load(ref).catch((error) => {
      if (!(error instanceof UserError)) throw error;
      if (needed.has(ref)) stderr.error(error);
    });
    await loadNamed(library, ref);
  }
}

/** A rehearsal goes on where it was: with the answers and replies that were not yet given. */
async function rehearsedSoFar(chosen: ChosenExecutors, journal: string): Promise<ChosenExecutors> {
  if (!chosen.rehearsal) return chosen;
  const { remember, replies } = chosen.rehearsal;
  let run = newRun;
  let answered = 0;
  for await (const event of readEvents(disk, journal)) {
    run = apply(run, event);
    remember(event, run);
    if (event.type === 'agent-answered') answered += 1;
  }
  return { ...chosen, rehearsal: { remember, replies: replies.slice(answered) } };
}

async function salvageJournal(journal: string): Promise<void> {
  const salvaged = await salvage(disk, journal, codec);
  if (!salvaged) return;
  const { seq, lostBytes, brokenFile } = salvaged;
  stderr.say(`The journal continues after event ${seq}.`);
  if (brokenFile)
    stderr.say(`${lostBytes} bytes could not be kept.`, `The damaged file is ${brokenFile}`);
}
