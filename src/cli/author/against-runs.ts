/** Plays finished runs again on a workflow as it is now. */
import { type RunsWish, runsOfWorkflow } from '../../app/runs-of-workflow.ts';
import { answerText } from '../../execute/steps/answer-ref.ts';
import type { RefusedAnswer } from '../../lint/refused-answers.ts';
import type { LooseLibrary } from '../../load/load.ts';
import type { JournaledEvent } from '../../model/event.ts';
import { shellWord } from '../../model/shell-word.ts';
import { UserError } from '../../model/user-error.ts';
import type { Workflow } from '../../model/workflow.ts';
import type { StepReader } from '../../ports.ts';
import {
  AgainGroups,
  type AgainRun,
  againJson,
  againProblems,
} from '../../workflow-tests/again-report.ts';
import { type PlayedAgain, playAgain } from '../../workflow-tests/play-again.ts';
import type { JunitCase } from '../../workflow-tests/report.ts';
import type { Here, Surroundings } from '../../world/surroundings.ts';
import { configuredLibrary } from '../../world/wire.ts';
import { stderr, stdout } from '../terminal/terminal.ts';

interface AgainstOptions {
  readonly json?: boolean;
}

/** Says which runs would now go elsewhere. Returns the cases of a JUnit report with the exit code. */
export async function testAgainstRuns(
  here: Here,
  path: string,
  wish: RunsWish,
  { json }: AgainstOptions,
): Promise<{
  readonly code: number;
  readonly suite: string;
  readonly cases: readonly JunitCase[];
}> {
  const library = await configuredLibrary(here);
  const workflow = await library.load(path);
  const groups = new AgainGroups();
  const cases: JunitCase[] = [];
  let startedAt = Date.now();
  for await (const one of playedAgain(await here(), library, workflow, wish)) {
    if (json) stdout.json(againJson(one));
    groups.add(one);
    const durationMs = Date.now() - startedAt;
    startedAt += durationMs;
    const { id: name, found } = one;
    cases.push({
      ...{ name, file: workflow.ref, problems: againProblems(one), durationMs },
      ...('problem' in found && { skipped: found.problem }),
    });
  }
  if (cases.length === 0)
    throw new UserError(
      'no-run',
      `This project has no finished runs of ${workflow.name}.`,
      `To start one: raymond ${shellWord(path)}`,
    );
  if (!json) stdout.say(...groups.lines());
  return { code: groups.someElsewhere ? 1 : 0, suite: workflow.name, cases };
}

/** The answers of all finished runs that the states of a workflow would refuse. */
export async function refusedInRuns(
  around: Surroundings,
  library: LooseLibrary,
  workflow: Workflow,
): Promise<readonly RefusedAnswer[]> {
  const refused: RefusedAnswer[] = [];
  for await (const { id: run, found } of playedAgain(around, library, workflow, { names: [] })) {
    if ('problem' in found) continue;
    for (const { agent, step, state, message, tags, isOwn } of found.refused)
      if (isOwn) refused.push({ run, agent, step, state, message, tags });
  }
  return refused;
}

/** Plays the runs that a person means. Only one of them is in memory at a time. */
async function* playedAgain(
  around: Surroundings,
  library: LooseLibrary,
  workflow: Workflow,
  wish: RunsWish,
): AsyncGenerator<AgainRun> {
  const { store, world } = around;
  const { runs, notices } = await runsOfWorkflow(store, workflow, wish);
  for (const text of notices) stderr.say(text);
  const steps = await world.steps();
  for (const one of runs) {
    if (one.kind === 'damaged') {
      yield { id: one.id, found: { problem: one.problem.message } };
      continue;
    }
    const found = await played(around, library, workflow, one.id, steps).catch((error: unknown) => {
      if (error instanceof UserError) return { problem: error.message };
      throw error;
    });
    yield { id: one.id, found };
  }
}

async function played(
  { store }: Surroundings,
  library: LooseLibrary,
  workflow: Workflow,
  id: string,
  steps: StepReader,
): Promise<PlayedAgain> {
  const events: JournaledEvent[] = [];
  for await (const event of store.events(id)) events.push(event);
  const records = store.records(id);
  return playAgain(events, {
    workflow,
    library,
    answer: (end, name) => answerText(records, end, MOST_BYTES, name),
    told: async ({ agent, step }) => (await steps.read(id, { agent, step }, 'prompt')).told,
  });
}

/** The output of a script has no limit. */
const MOST_BYTES = 16 * 1024 * 1024;
