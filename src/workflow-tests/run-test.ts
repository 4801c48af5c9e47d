/** Runs one test of a workflow: the real loop and real scripts, in its own project folder. */
import { mkdirSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asScripted } from '../execute/rehearsal/rehearsal.ts';
import { type ScriptedAnswer, scriptedAgent } from '../execute/rehearsal/scripted.ts';
import { notesIn } from '../files/notes-folder.ts';
import { refillFolder } from '../files/refill-folder.ts';
import { scriptVariables } from '../interpret/render.ts';
import { entryInput } from '../interpret/workflow-defaults.ts';
import type { RunEvent, Settings } from '../model/event.ts';
import { NOTE_RULES } from '../model/note-rules.ts';
import type { Run } from '../model/run.ts';
import { UserError } from '../model/user-error.ts';
import type { Workflow } from '../model/workflow.ts';
import { answerFor, checkFor, writtenFor } from '../parse/rehearsal-file.ts';
import type { WorkflowTest } from '../parse/test-file.ts';
import { readDuration } from '../parse/transition.ts';
import type {
  Executor,
  Ground,
  RunFolders,
  RunningStep,
  Step,
  WorkflowLibrary,
  Worktrees,
} from '../ports.ts';
import { Executions } from './executions.ts';
import { findProblems, type Problem, type Prompt } from './expectations.ts';
import { type JumpingClock, jumpingClock, type PassingTime, stillClock } from './jumping-clock.ts';
import { playRun } from './play.ts';
import { putFiles } from './project-files.ts';
import { replayAnswers } from './replay-answers.ts';
import { ReplayInbox } from './replay-inbox.ts';
import type { TestOccasion } from './test-occasion.ts';
import { makeRepository } from './test-repository.ts';

export interface TestPorts {
  /** The ground of a test that runs in this folder. */
  readonly ground: (cwd: string) => Promise<Ground>;
  /** Runs scripts for a test in this folder, and makes worktrees for its run. */
  readonly scripts: (folder: string) => {
    readonly script: Executor;
    readonly endStrays: () => Promise<unknown>;
    readonly worktrees: (run: string, project: string) => Worktrees;
  };
  /** A library whose paths start from a folder, with a folder for unpacked scripts. */
  readonly library: (cwd: string, unpackInto: string) => WorkflowLibrary;
}

/** The result of one test. */
export interface TestReport {
  readonly name: string;
  readonly file: string;
  readonly problems: readonly Problem[];
  readonly durationMs: number;
  readonly workflow: Workflow;
  readonly events: readonly RunEvent[];
}

export interface NamedTest {
  readonly name: string;
  readonly file: string;
  readonly test: WorkflowTest;
}

export async function runTest(
  path: string,
  { name, file, test }: NamedTest,
  settings: Settings,
  ports: TestPorts,
  stopped?: AbortSignal,
): Promise<TestReport> {
  const startedAt = Date.now();
  const root = await realpath(await mkdtemp(join(tmpdir(), 'raymond-test-')));
  try {
    const cwd = join(root, 'project');
    await mkdir(cwd, { mode: 0o700 });
    await putFiles(cwd, test);
    if (test.git) await makeRepository(cwd, test.git);
    else refuseBranches(test);
    const library = ports.library(cwd, join(root, 'source'));
    const workflow = await library.load(path);
    const inbox = test.recorded && new ReplayInbox(test.recorded);
    const prompts: Prompt[] = [];
    const failedWork: Problem[] = [];
    const { script, endStrays, worktrees } = ports.scripts(root);
    const occasion =
      test.trigger === undefined
        ? undefined
        : (await import('./test-occasion.ts')).testOccasion(workflow, test);
    const clock = jumpingClock(occasion?.at);
    const trees = test.git && timeless(worktrees(RUN, cwd), clock);
    const executions = new Executions();
    let now: Run | undefined;
    const folders = foldersIn(root);
    const asAgent = (step: Step) => agentEnvironment(step, now, library, folders.task);
    const { run, events } = await playRun(
      { start: beginning(workflow, test, cwd, settings, occasion) },
      {
        library,
        executors: {
          ...executorsFor(test, { script, asAgent, failedWork }, prompts, clock, executions),
          endStrays,
        },
        journaled: (events, after) => {
          executions.journaled(events);
          now = after;
        },
        clock: inbox ? stillClock(clock) : clock,
        ground: await ports.ground(cwd),
        folders,
        replies: test.replies ?? [],
        ...(trees && { worktrees: trees }),
        ...(inbox && { inbox }),
        ...(stopped && { stopped }),
      },
    );
    const problems = await findProblems(test, {
      run,
      events,
      prompts,
      failedWork,
      cwd,
      states: statesOf(run, events, library),
      departure: inbox?.departure,
    });
    return { name, file, problems, durationMs: Date.now() - startedAt, workflow, events };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** The id of the run, which is also a part of the names of its branches. */
const RUN = 'test-00000000';

/** What git does takes no time on the clock of a test. */
function timeless({ find, make, look, remove }: Worktrees, clock: JumpingClock): Worktrees {
  return {
    find: (...args) => clock.during(find(...args)),
    make: (...args) => {
      const { done, stop } = make(...args);
      return { done: clock.during(done), stop };
    },
    look: (...args) => clock.during(look(...args)),
    remove: (...args) => clock.during(remove(...args)),
  };
}

function refuseBranches({ expect }: WorkflowTest): void {
  if (!expect?.branches) return;
  throw new UserError(
    'bad-file',
    'A test expects branches, but has no git repository.',
    'Add git: true to the test.',
  );
}

function beginning(
  workflow: Workflow,
  test: WorkflowTest,
  cwd: string,
  settings: Settings,
  occasion: TestOccasion | undefined,
) {
  const received = entryInput(workflow, occasion ? occasion.input : test.input);
  if (!received.ok) {
    throw new UserError(
      'input-missing',
      `The test has no input, but ${received.problem}.`,
      'Add input: to the test.',
    );
  }
  return {
    run: RUN,
    workflow: workflow.ref,
    state: workflow.entry,
    cwd,
    settings,
    metadata: test.set ?? {},
    ...(received.input !== undefined && { input: received.input }),
    ...(occasion && { startedBy: occasion.startedBy }),
  };
}

interface Work {
  readonly script: Executor;
  /** The environment that a script of the agent would have. */
  readonly asAgent: (step: Step) => Step['environment'];
  readonly failedWork: Problem[];
}

function agentEnvironment(
  { environment, agent: id, workflow: ref }: Step,
  run: Run | undefined,
  library: WorkflowLibrary,
  task: (agent: string) => string,
): Step['environment'] {
  const agent = run?.agents.get(id);
  const workflow = library.get(ref);
  if (!run || !agent || !workflow) return environment;
  return scriptVariables({ run, agent, workflow, taskFolder: () => task(id) });
}

/** The test always answers prompts. Scripts and checks run, unless the test answers for them. */
function executorsFor(
  test: WorkflowTest,
  { script, asAgent, failedWork }: Work,
  prompts: Prompt[],
  clock: JumpingClock,
  executions: Executions,
) {
  const replayed = test.recorded && replayAnswers(test.recorded);
  const next = (step: Step): ScriptedAnswer | undefined => {
    if (replayed) return replayed(step);
    const { state, agent } = step;
    const numbers = executions.numberOf(agent, step.number);
    if (step.kind === 'check') return outcomeOf(step.command, numbers.number);
    const answer =
      step.kind === 'prompt' && step.writes
        ? writtenFor(test, step.writes, { state, ...numbers })
        : answerFor(test, { state, agent, ...numbers });
    if (typeof answer === 'object' && 'takes' in answer)
      durations.set(step, readDuration(answer.takes ?? '') ?? 0);
    if (typeof answer === 'object' && 'does' in answer && answer.does !== undefined)
      works.set(step, answer.does);
    return answer === undefined ? undefined : asScripted(answer);
  };
  const outcomeOf = (command: string, execution: number): ScriptedAnswer | undefined => {
    const outcome = checkFor(test.checks, command, execution);
    return outcome && { text: outcome.output ?? '', exit: outcome.exit };
  };
  const answers = new Map<Step, ScriptedAnswer>();
  const durations = new Map<Step, number>();
  const works = new Map<Step, string>();
  const scripted = scriptedAgent(async (step) => {
    const work = works.get(step);
    const environment = asAgent(step);
    const problem = work && (await doWork({ ...step, environment }, work, script));
    if (problem) failedWork.push(problem);
    return answers.get(step) ?? noAnswer(step);
  });
  const choose = (step: Step): Executor => {
    const answer = next(step);
    if (step.kind === 'prompt' && !step.writes)
      prompts.push({ state: step.state, text: step.prompt, isAnswered: answer !== undefined });
    if (answer !== undefined) answers.set(step, answer);
    return answer === undefined && step.kind !== 'prompt' ? script : scripted;
  };
  const executor: Executor = {
    name: 'test',
    start: (step, live, ask) => {
      const chosen = choose(step);
      const ms = durations.get(step);
      const begin = () => chosen.start(step, live, ask);
      return ms === undefined ? begin() : beginAfter(clock.pass(ms), begin);
    },
    adopt: (step, live, ask) => choose(step).adopt(step, live, ask),
    close: async () => {},
  };
  return { prompt: executor, script: executor };
}

/** Does the work that an agent would do. */
async function doWork(step: Step, command: string, script: Executor): Promise<Problem | undefined> {
  const { kind: _, ...parts } = step;
  const folder = `${step.folder}-does`;
  const input = step.kind === 'prompt' ? undefined : step.input;
  const work = { ...parts, kind: 'check', command, interpreter: 'bash', folder, input } as const;
  const outcome = await script.start(work, () => {}).outcome;
  if (outcome.kind === 'answered' && outcome.exit === 0) return undefined;
  const [got, output] =
    outcome.kind === 'answered'
      ? [`exit code ${outcome.exit}`, outcome.output]
      : [outcome.kind, undefined];
  return {
    what: `does of ${step.state}, agent ${step.agent}`,
    expected: 'exit code 0',
    got,
    ...(typeof output === 'string' && output !== '' && { detail: output }),
  };
}

/** A step of a test does its work at the end of its time. A stop ends it early. */
function beginAfter(time: PassingTime, begin: () => RunningStep): RunningStep {
  let isStopped = false;
  const outcome = time.over.then(() => {
    const running = begin();
    if (isStopped) running.stop();
    return running.outcome;
  });
  const stop = () => {
    isStopped = true;
    time.end();
  };
  return { outcome, stop };
}

function noAnswer({ state }: Step): never {
  throw new Error(`The test has no answer for ${state}. Add one under answers:`);
}

/** The folders of a simulated run. */
export function foldersIn(root: string): RunFolders {
  const task = (agent: string) => {
    const folder = join(root, 'tasks', agent);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  };
  return {
    step: (agent: string, number: number) => join(root, 'steps', agent, String(number)),
    // A test adopts no steps.
    hasBegun: () => false,
    task,
    notes: notesIn(task, NOTE_RULES),
    put: (agent: string, into: string, files: ReadonlyMap<string, string | Uint8Array>) =>
      refillFolder(join(task(agent), into), files),
  };
}

/** The states of every workflow that the run entered. */
function statesOf(
  run: Run,
  events: readonly RunEvent[],
  library: WorkflowLibrary,
): ReadonlySet<string> {
  const refs = new Set([run.workflow]);
  for (const event of events) if ('workflow' in event) refs.add(event.workflow);
  return new Set([...refs].flatMap((ref) => [...(library.get(ref)?.states.keys() ?? [])]));
}
