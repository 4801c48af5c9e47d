import { dirname } from 'node:path';
import { lostTrees } from '../../execute/git/lost-trees.ts';
import { finishRestoring } from '../../host/rewind-run.ts';
import { apply } from '../../interpret/apply.ts';
import { interpret } from '../../interpret/interpret.ts';
import { newRun } from '../../interpret/new-run.ts';
import { AbandonedSteps } from '../../model/abandoned-steps.ts';
import { conditionOf, isResumable, needsAnswer } from '../../model/condition.ts';
import { counted } from '../../model/counted.ts';
import type { Run } from '../../model/run.ts';
import type { RunSummary } from '../../model/run-summary.ts';
import { shellWord } from '../../model/shell-word.ts';
import { UserError } from '../../model/user-error.ts';
import { overlaid } from '../../options/chosen-options.ts';
import type { RunOptions } from '../../options/run-options.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import type { Lease, RunStore, StoredRun } from '../../ports.ts';
import { agent } from '../agent.ts';
import type { CarryRun } from '../carry-here.ts';
import { acceptedChanges } from '../changed-workflows.ts';
import { checkAbilities, checkSettings, travelWarnings } from '../check-agents.ts';
import { configurationFor, ignoredKeys } from '../configuration.ts';
import { detach } from '../detach.ts';
import { dueRuns } from '../due-runs.ts';
import { announce, followWorkers, type HandOver } from '../follow-workers.ts';
import { acceptForeign, type FilesNow } from '../foreign-run.ts';
import { refuseInside } from '../inside.ts';
import { loadWorkflows } from '../load-workflows.ts';
import { openLog } from '../log-file.ts';
import { withNormalChoices } from '../normal-choices.ts';
import { notYours, unsealedNotice } from '../own-runs.ts';
import { questionsOf } from '../questions.ts';
import { reportError } from '../report-error.ts';
import { runAtTerminal } from '../run-at-terminal.ts';
import { allRuns, openRun, runToChange } from '../runs.ts';
import { settingsFrom } from '../settings.ts';
import { keepAccepted, storedWith } from '../stored-files.ts';
import type { Here, Surroundings } from '../surroundings.ts';
import { stderr, stdout } from '../terminal.ts';
import { approvalsOf } from '../trust.ts';
import { type ChosenExecutors, checkNames, executors, filesOf, looseLibrary } from '../wire.ts';
import { rehearsalNotice } from './run.ts';

export interface ResumeOptions extends RunOptions {
  readonly all?: boolean;
  readonly salvage?: boolean;
  readonly fresh?: boolean;
  readonly trustRun?: boolean;
  readonly acceptChanges?: boolean;
}

/** Continues a run, or every run that can continue without an answer. */
export async function resume(
  here: Here,
  name: string | undefined,
  given: ResumeOptions,
  carry: CarryRun = runAtTerminal,
  handOver: HandOver = given.detach ? announce : followWorkers,
): Promise<number> {
  const options = withNormalChoices(given, 'The command line');
  const around = await here();
  if (name === undefined && !options.all)
    throw wrongUsage('No run is named.', 'Name one. To see all runs: raymond list');
  const config = await configurationFor(around.project, options);
  stderr.say(...ignoredKeys(config));
  if (options.all || name === undefined) {
    if (options.detach)
      throw wrongUsage('--detach works with one run.', 'Name a run, or omit --detach.');
    return resumeAll(around, options, config.options);
  }
  const run = await runToChange(around.store, name);
  if (!options.detach || around.database)
    return resumeOne(around, run, options, config.options, { carry, handOver });
  const { detach: _, ...others } = given;
  const command = { kind: 'resume', name: run, options: others } as const;
  return detach(around, { run, command, relay: true }, options);
}

/**
 * Resumes one run after the other. A question does not delay the next run. Afterwards, resumes each
 * waiting run when its answer has arrived or its deadline has passed.
 */
async function resumeAll(
  around: Surroundings,
  options: ResumeOptions,
  config: RunOptions,
): Promise<number> {
  const codes = new Map<string, number>();
  const waiting = new Set<string>();
  const resumeNext = async ({ id }: { readonly id: string }) => {
    const code = await resumeOne(around, id, options, config, { patient: false }).catch(
      reportOne(options),
    );
    codes.set(id, code);
    waiting.add(id);
    return code;
  };
  for (const found of await allRuns(around.store)) {
    if (found.kind === 'damaged') continue;
    if (!found.isOwn && !options.trustRun) {
      if (canContinue(found)) stderr.say(`Skipped: ${notYours(found.id, found.doubt)}`);
      continue;
    }
    const condition = conditionOf(found);
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
function reportOne({ json }: RunOptions): (error: unknown) => number {
  return (error) => {
    if (!(error instanceof UserError)) throw error;
    reportError(error, json);
    return 1;
  };
}

/** After Ctrl-C in one run, the next one does not start. */
const INTERRUPTED = 130;

function canContinue(found: StoredRun<RunSummary>): boolean {
  const condition = conditionOf(found);
  return isResumable(condition) || needsAnswer(condition);
}

async function resumeOne(
  around: Surroundings,
  id: string,
  given: ResumeOptions,
  config: RunOptions,
  { patient = true, carry = runAtTerminal, handOver = followWorkers } = {},
): Promise<number> {
  const { store, clock } = around;
  const workspace = around.workspace(id);
  await refuseInside(around, id, 'resume it');
  const options = overlaid(config, given);
  const log = options.logFile === undefined ? undefined : openLog(options.logFile, around.project);
  if (around.database) {
    const { run, isOwn, doubt } = await openRun(store, id);
    if (run.status.kind !== 'ended' && (isOwn || !given.trustRun)) {
      stderr.say(
        `${id} has not ended, so workers carry it. Raymond only shows it.`,
        ...(isOwn
          ? []
          : [
              `${notYours(id, doubt)} Workers with your key leave it alone. To approve it: raymond resume ${id} --trust-run`,
            ]),
      );
      return handOver(around, { run, from: run.seq + 1, options, log });
    }
  } else await around.makeProject();
  const lease = await store.lease(id);
  try {
    if (given.salvage) await salvageRun(lease);
    const opened = await lease.open();
    const { isOwn, journal } = opened;
    const restored = () =>
      finishRestoring({ files: filesOf(around, id), clock }, opened.run, journal);
    let run = isOwn ? await restored() : opened.run;
    if (run.status.kind === 'ended' && run.status.outcome === 'completed') {
      await journal.close();
      return await repeatResult(run, given);
    }
    const { agents } = config;
    const files =
      isOwn || around.database ? undefined : await filesNow(run, { ...(agents && { agents }) });
    const settings = isOwn
      ? settingsFrom(given, run.settings)
      : await acceptForeign(opened, workspace, files ?? new Map(), given);
    if (!isOwn) {
      stderr.say(...unsealedNotice(id, await lease.seal({ ...run, settings })));
      run = await restored();
    }
    if (!around.database) {
      stderr.say(...(await lostTrees(run)));
      await setLostStepsAside(around, run);
    }
    if (given.input !== undefined) await checkReceiver(store, run);
    if (given.fresh && !given.all && run.tally.failed === 0)
      throw wrongUsage(`No agent of ${id} has failed, so --fresh has no effect.`, 'Omit --fresh.');
    // Accepted changes are those of the files here.
    const stored = given.acceptChanges ? undefined : await storedWith(around, run);
    const chosenAgents = { agent: settings.agent, ...(agents && { agents }) };
    const loose = looseLibrary(run.cwd, chosenAgents, stored);
    const library = loose.unpackingInto(workspace.source);
    await loadWorkflows(library, run, (error) => stderr.error(error));
    // Workers have the files as the run has read them.
    const areTheirs = around.database && !given.acceptChanges;
    const changed = files ? [...files.keys()] : areTheirs ? [] : undefined;
    const accepted = changed ?? (await acceptedChanges(run, library, given));
    const refs = [run.workflow, ...[...run.workflowFiles].map(([ref]) => ref)];
    const checked = { library, refs, settings, given: options };
    if (!settings.rehearse) stderr.say(...checkAbilities(checked));
    if (around.database) stderr.say(...travelWarnings(checked));
    else if (!settings.rehearse)
      stderr.say(
        ...checkSettings(checked, run.cwd, await approvalsOf(dirname(around.project.folder))),
      );
    if (!settings.rehearse) stderr.say(...agent.warningsOf(settings.agent));
    const { input, fresh } = given;
    const first = { kind: 'resume', at: clock.now(), settings, input, accepted, fresh } as const;
    const usual = library.get(run.workflow)?.agents.usual;
    if (usual !== undefined) await checkNames(usual, settings, options);
    if (around.database) {
      const events = interpret((ref) => library.get(ref), run, first);
      const after = events.reduce(apply, run);
      stderr.say(...unsealedNotice(id, await lease.seal({ ...run, settings })));
      await keepAccepted(around, id, accepted, loose);
      await journal.append(events, after);
      await lease.release();
      return await handOver(around, { run: after, from: run.seq + 1, options, log });
    }
    if (settings.rehearse) stderr.say(rehearsalNotice(settings));
    const chosen = await executors(around, {
      run: id,
      startedAt: run.startedAt,
      settings,
      workflow: run.workflow,
      library,
      given: options,
    });
    return await carry(run, [first], {
      around,
      lease,
      library,
      journal,
      executors: chosen.rehearsal ? await rehearsedSoFar(chosen, store, id) : chosen,
      options,
      log,
      patient,
    });
  } finally {
    await lease.release();
  }
}

/** The journal of a stranger also says which files it has read, so the files of now are shown. */
async function filesNow(run: Run, agents: Pick<RunOptions, 'agents'>): Promise<FilesNow> {
  const library = looseLibrary(run.cwd, agents);
  await loadWorkflows(library, run, () => {});
  const refs = [run.workflow, ...[...run.agents].map(([, { workflow }]) => workflow)];
  const all = new Set([...refs, ...[...run.workflowFiles].map(([ref]) => ref)]);
  return new Map([...all].map((ref) => [ref, Object.keys(library.get(ref)?.files ?? {})]));
}

/** Ends processes of steps that the journal does not know, and moves their files aside. */
async function setLostStepsAside(around: Surroundings, run: Run): Promise<void> {
  const workspace = around.workspace(run.id);
  const lost = await workspace.unknownSteps(run);
  if (lost.length === 0) return;
  await (await around.processes(run.id)).endSteps(lost);
  for (const step of lost) await workspace.setAside(step);
}

/** Refuses an input that no agent would receive. */
async function checkReceiver(store: RunStore, run: Run): Promise<void> {
  const { id, tally } = run;
  if (tally.asking === 0 && tally.failed > 0) return;
  const isAnswered = (await questionsOf(store, run)).some((question) => question.isAnswered);
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

/**
 * Resuming a completed run is not an error. A process that was killed right after the end has not
 * shown the result, and a caller that resumes until it succeeds gets it here.
 */
async function repeatResult(run: Run, { json }: RunOptions): Promise<number> {
  stderr.offer(`${run.id} is completed. To see its history: raymond show ${shellWord(run.id)}`);
  if (run.result !== undefined && !json) await stdout.result(run.result);
  return 0;
}

/** A rehearsal continues where it stopped: with the answers and replies that were not yet given. */
async function rehearsedSoFar(
  chosen: ChosenExecutors,
  store: RunStore,
  id: string,
): Promise<ChosenExecutors> {
  if (!chosen.rehearsal) return chosen;
  const { remember, replies } = chosen.rehearsal;
  let run = newRun;
  let answered = 0;
  // The answers of abandoned steps are given again.
  const abandoned = new AbandonedSteps();
  for await (const event of store.events(id)) abandoned.follow(event, event.seq);
  for await (const event of store.events(id)) {
    run = apply(run, event);
    if (event.type !== 'step-started' || !abandoned.has(event.agent, event.step))
      remember(event, run);
    if (event.type === 'agent-answered') answered += 1;
  }
  return { ...chosen, rehearsal: { remember, replies: replies.slice(answered) } };
}

async function salvageRun(lease: Lease): Promise<void> {
  const salvaged = await lease.salvage();
  if (!salvaged) return;
  const { seq, lostBytes, brokenFile } = salvaged;
  stderr.say(`The journal continues after event ${seq}.`);
  if (brokenFile)
    stderr.say(
      `${counted(lostBytes, 'byte')} could not be kept.`,
      `The damaged file is ${brokenFile}`,
    );
}
