import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runToSee } from '../../app/find-run.ts';
import { AGENTS } from '../../execute/agents/agents.ts';
import { answerText } from '../../execute/steps/answer-ref.ts';
import { openRun } from '../../host/open-run.ts';
import { defaultBudgetUsd } from '../../interpret/workflow-defaults.ts';
import { type Companions, companionsOf } from '../../load/companions.ts';
import type { RunEvent } from '../../model/event.ts';
import { UserError } from '../../model/user-error.ts';
import type { About, Workflow } from '../../model/workflow.ts';
import { fromKeys } from '../../options/chosen-options.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import type { WorkflowTest } from '../../parse/test-file.ts';
import type { StepKey, StepRecords } from '../../ports.ts';
import { coverageOf } from '../../workflow-tests/coverage.ts';
import { exploreAsTest } from '../../workflow-tests/exploration.ts';
import { findTests } from '../../workflow-tests/find-tests.ts';
import { recordTest, writeTest } from '../../workflow-tests/record.ts';
import { coverageLines, junitXml, reportJson, reportLines } from '../../workflow-tests/report.ts';
import { runTest, type TestPorts, type TestReport } from '../../workflow-tests/run-test.ts';
import { optionsForReading } from '../../world/config/configuration.ts';
import { withNormalChoices } from '../../world/config/normal-choices.ts';
import { OPTIONS } from '../../world/config/option-table.ts';
import { settingsFrom } from '../../world/config/settings.ts';
import type { Here } from '../../world/surroundings.ts';
import { libraryFor, testPorts } from '../../world/wire.ts';
import { numberOf } from '../look/list.ts';
import { onSignals } from '../terminal/signals.ts';
import { stdout } from '../terminal/terminal.ts';
import { refuseLinkedPlace } from './linked-place.ts';
import { onChanges } from './repeat-on-changes.ts';
import { writeReport } from './write-report.ts';

export interface TestOptions {
  readonly json?: boolean;
  readonly junit?: string;
  readonly coverage?: boolean;
  readonly explore?: boolean;
  readonly watch?: boolean;
  readonly record?: string;
  /** Plays finished runs instead of tests. */
  readonly againstRuns?: boolean;
  /** Which runs: see `RunsWish`. */
  readonly status?: string;
  readonly number?: string;
}

/** Plays the tests of a workflow, or writes a test from a run. */
export async function test(
  here: Here,
  path: string | undefined,
  names: readonly string[],
  options: TestOptions,
): Promise<number> {
  if (options.record !== undefined) return record(here, options.record, path);
  if (path === undefined)
    throw wrongUsage('No workflow is named.', 'Name the workflow whose tests to play.');
  if (options.explore && (names.length > 0 || options.coverage))
    throw wrongUsage(
      '--explore plays no tests.',
      'Omit the names of tests and --coverage, or omit --explore.',
    );
  if (!options.againstRuns && (options.status ?? options.number) !== undefined)
    throw wrongUsage('--status and --number choose runs.', 'Add --against-runs, or omit them.');
  if (options.againstRuns) return againstRuns(here, path, names, options);
  const ports = testPorts(await optionsForReading(here));
  const testOnce = () =>
    withWorkflow(ports, path, (found) => testAll(ports, found, names, options));
  if (!options.watch) return testOnce();
  return onChanges(
    () => withWorkflow(ports, path, async ({ companions }) => companions.folders),
    testOnce,
  );
}

async function againstRuns(
  here: Here,
  path: string,
  names: readonly string[],
  options: TestOptions,
): Promise<number> {
  const { status, number, junit } = options;
  if (options.explore || options.coverage || options.watch)
    throw wrongUsage('--against-runs plays no tests.', 'Omit --explore, --coverage and --watch.');
  const { testAgainstRuns } = await import('./against-runs.ts');
  const wish = { names, status, newest: numberOf(number) };
  const { code, suite, cases } = await testAgainstRuns(here, path, wish, options);
  if (junit !== undefined) await writeReport(junit, junitXml(suite, cases));
  return code;
}

async function testAll(
  ports: TestPorts,
  { workflow, companions }: TestedWorkflow,
  names: readonly string[],
  options: TestOptions,
): Promise<number> {
  const tests = options.explore ? [] : await findTests(companions.tests, names, AGENTS);
  if (tests.length === 0 && !options.explore)
    throw new UserError(
      'no-tests',
      `The workflow ${workflow.name} has no tests.`,
      `Write ${companions.newTest(workflow.name)}, or record a run: raymond test --record <run>`,
    );
  const reports: TestReport[] = [];
  const add = (report: TestReport) => {
    if (options.json) stdout.json(reportJson(report));
    else stdout.say(...reportLines(report));
    reports.push(report);
  };
  const isStopped = await untilSignal(async (stopped) => {
    for (const named of tests) {
      const settings = settingsOf(named.test, workflow.about);
      const report = await runTest(workflow.ref, named, settings, ports, stopped);
      if (stopped.aborted) return;
      add(report);
    }
  });
  if (isStopped) return 130;
  if (options.explore) add(exploreAsTest(workflow));
  const failed = reports.filter(({ problems }) => problems.length > 0).length;
  await summarise(workflow, reports, failed, options);
  return failed > 0 ? 1 : 0;
}

/** Scripts run in their own sessions, so a signal to this process must also end them. Returns whether one arrived. */
async function untilSignal(work: (stopped: AbortSignal) => Promise<void>): Promise<boolean> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const forget = onSignals(abort);
  try {
    await work(controller.signal);
    return controller.signal.aborted;
  } finally {
    forget();
  }
}

async function summarise(
  workflow: Workflow,
  reports: readonly TestReport[],
  failed: number,
  { json, junit, coverage }: TestOptions,
): Promise<void> {
  if (coverage) {
    const found = coverageOf(
      workflow,
      reports.map(({ events }) => events),
    );
    if (json) stdout.json({ coverage: found });
    else stdout.say(...coverageLines(found));
  }
  if (!json)
    stdout.say(failed > 0 ? `${failed} of ${reports.length} failed` : `${reports.length} passed`);
  if (junit !== undefined) await writeReport(junit, junitXml(workflow.name, reports));
}

/** Ends endless loops in a test. */
const TEST_ITERATIONS = 1000;

export function settingsOf(
  { budget, max_iterations, settings = {} }: WorkflowTest,
  about: About = {},
) {
  const limits = {
    budget: budget ?? defaultBudgetUsd(about),
    max_iterations: max_iterations ?? TEST_ITERATIONS,
  };
  const given = fromKeys(OPTIONS, { ...limits, ...settings });
  return settingsFrom(withNormalChoices(given, 'The settings of the test'));
}

interface TestedWorkflow {
  readonly workflow: Workflow;
  readonly companions: Companions;
}

/** Loads a workflow and finds its companion files. Afterwards, removes the files that were unpacked. */
async function withWorkflow<T>(
  ports: TestPorts,
  path: string,
  look: (found: TestedWorkflow) => Promise<T>,
): Promise<T> {
  const unpackInto = await mkdtemp(join(tmpdir(), 'raymond-test-'));
  try {
    const library = ports.library(process.cwd(), unpackInto);
    const workflow = await library.load(path);
    const companions = await companionsOf(workflow.ref, library.scriptFolder);
    return await look({ workflow, companions });
  } finally {
    await rm(unpackInto, { recursive: true, force: true });
  }
}

/** Writes a test that replays a run, next to the states of its workflow. Never overwrites a file. */
async function record(here: Here, name: string, path: string | undefined): Promise<number> {
  const { store, workspace, cwd } = await here();
  const { id, run } = await openRun(store, await runToSee(store, name));
  const events: RunEvent[] = [];
  for await (const event of store.events(id)) events.push(event);
  const outputs = await outputsOf(events, store.records(id));
  const recorded = recordTest({
    agents: AGENTS,
    run,
    events,
    output: (agent, step) => outputs.get(nameOf({ agent, step })),
  });
  const { agents } = await optionsForReading(here);
  const library = libraryFor(workspace(id), cwd, {
    agent: run.settings.agent,
    ...(agents && { agents }),
  });
  const ref = (await library.load(path === undefined ? run.workflow : resolve(path))).ref;
  const file = (await companionsOf(ref, library.scriptFolder)).newTest(id);
  if (existsSync(file))
    throw new UserError('exists', `${file} already exists.`, 'Remove or rename it first.');
  refuseLinkedPlace(file);
  await writeFile(file, writeTest(recorded), { mode: 0o600, flag: 'wx' });
  stdout.say(file);
  return 0;
}

/** People read a recorded test, so it stays small. */
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** The answers and outputs of steps that the run has kept. */
async function outputsOf(
  events: readonly RunEvent[],
  records: StepRecords,
): Promise<ReadonlyMap<string, string>> {
  const outputs = new Map<string, string>();
  const prompts = new Set<string>();
  for (const event of events) {
    if (event.type === 'step-started' && event.session) prompts.add(nameOf(event));
    if (event.type !== 'step-ended') continue;
    const name = prompts.has(nameOf(event)) ? 'answer' : 'stdout';
    const text = await answerText(records, event, MAX_OUTPUT_BYTES, name);
    if (text !== undefined) outputs.set(nameOf(event), text);
  }
  return outputs;
}

const nameOf = ({ agent, step }: StepKey) => `${agent}#${step}`;
