/**
 * Decides once more what follows from a recorded answer, on workflows as they are now. Judges, checks and
 * handovers that it needs say what they said then.
 */
import { resolve } from 'node:path';
import { apply } from '../interpret/apply.ts';
import type { Workflows } from '../interpret/follow.ts';
import { interpret } from '../interpret/interpret.ts';
import { needs } from '../interpret/needs.ts';
import type { RunEvent, RunEventOf } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { Facts, Input, Located, StartStep, WorkflowFact } from '../model/input.ts';
import { NO_LIMITS } from '../model/limits.ts';
import type { Agent, Run } from '../model/run.ts';
import type { Tag, TagReading } from '../model/tag.ts';
import { readingOf } from '../run/step-report.ts';
import {
  type Decision,
  decisionIn,
  failureIn,
  type Outcome,
  outcomeKey,
  type RecordedDecision,
} from './recorded-decisions.ts';

export interface DecidingAgain {
  readonly workflows: Workflows;
  /** Looks up the workflow that a tag of the agent names. */
  readonly findWorkflow: (path: string, agent: Agent) => Promise<Located<WorkflowFact>>;
  /** The text of a step's answer or output; undefined if it is not kept. */
  readonly answer: (
    end: RunEventOf<'step-ended'>,
    name: 'answer' | 'stdout',
  ) => Promise<string | undefined>;
}

export interface DecidedAgain {
  /** One for each thing that a judge or a check can say, if it is not known what it says. */
  readonly decisions: readonly Decision[];
  /** A sentence about what is not known. */
  readonly unknown?: string;
  /** The tags of the answer. */
  readonly tags: readonly Tag[];
}

/** Undefined if the answer is not kept. `run` is the run before the end of the step. */
export async function decideAgain(
  deciding: DecidingAgain,
  run: Run,
  agent: Agent,
  event: RunEventOf<'step-ended'>,
  then: RecordedDecision,
): Promise<DecidedAgain | undefined> {
  const { workflows } = deciding;
  const reading = await ownReading(deciding, agent, event, then);
  if (!reading) return undefined;
  const decisions: Decision[] = [];
  let unknown: string | undefined;
  let asides = 0;
  const after = (from: Moment, input: Input): Moment => {
    const events = interpret(workflows, from.run, input);
    return { ...from, run: events.reduce(apply, from.run), made: [...from.made, ...events] };
  };
  const hear = async (from: Moment, ended: RunEventOf<'step-ended'>, heard: Reading) => {
    const facts = await factsFor(deciding, from.run.agents.get(agent.id) ?? agent, heard, then);
    const { at, denied } = ended;
    const { text, exit, ...tags } = heard;
    return after(from, {
      ...{ kind: 'step-ended', at, agent: agent.id, step: from.step },
      outcome: { kind: 'answered', account: ended, reading: tags, text, exit, denied, facts },
    });
  };
  /** Asks a judge, a check or a handover, as long as one is needed. */
  const follow = async (from: Moment): Promise<void> => {
    const now = from.run.agents.get(agent.id);
    const asks = now?.status.kind === 'ready' && isAside(now.status.task.kind);
    // In a journal that nobody has written, a handover can be asked for without end.
    if (asks && ++asides > MOST_ASIDES) {
      unknown ??= 'It asks for more than a run can ask for.';
      return;
    }
    const asked = asks ? after(from, startOf(agent.id, event.at)) : from;
    const start = asks ? asked.made.at(-1) : undefined;
    if (start?.type !== 'step-started') {
      decisions.push(decisionIn(asked.made, agent.id));
      return;
    }
    const at = { ...asked, step: start.step };
    const command = at.made.findLast((one) => one.type === 'check-called')?.run;
    const key = outcomeKey(start.task, start.state, command);
    const outcome = then.outcomes.get(key)?.[at.used.filter((one) => one === key).length];
    const heard = outcome && (await readingOfOutcome(deciding, outcome));
    if (heard)
      return follow({ ...(await hear(at, outcome.ended, heard)), used: [...at.used, key] });
    // It failed then as well.
    if (!outcome && key === then.unended) {
      decisions.push(then);
      return;
    }
    unknown ??= unknownOutcome(start, command);
    const possible =
      decisions.length < MOST_DECISIONS ? possibleReadings(workflows, now, start) : [];
    for (const one of possible) await follow(await hear(at, event, one));
  };
  const first = { run: unlimited(run), made: [], step: event.step, used: [] };
  await follow(await hear(first, event, reading));
  return { decisions, tags: reading.tags, ...(unknown !== undefined && { unknown }) };
}

interface Reading extends TagReading {
  readonly text: string;
  /** The exit code of a check. */
  readonly exit?: number | undefined;
}

/** A moment of a decision that is made again. */
interface Moment {
  readonly run: Run;
  /** Everything that was decided so far. */
  readonly made: readonly RunEvent[];
  /** The running step. */
  readonly step: number;
  /** The keys of the recorded outcomes that were used. */
  readonly used: readonly string[];
}

const NO_TAGS: TagReading = { tags: [], bad: [] };

/** Several unknown checks have many outcomes. Some of them show enough. */
const MOST_DECISIONS = 16;

/** Judges, checks and handovers after one answer, in all possible courses together. */
const MOST_ASIDES = 1_000;

const isAside = (task: string) => task === 'judge' || task === 'check' || task === 'handover';

/** The tags of an answer. If its text is not kept, those in the journal, if they are enough. */
async function ownReading(
  { workflows, answer }: DecidingAgain,
  { status, workflow, state: name }: Agent,
  event: RunEventOf<'step-ended'>,
  { tags }: RecordedDecision,
): Promise<Reading | undefined> {
  const isPrompt = status.kind === 'running' && status.session !== undefined;
  const text = await answer(event, isPrompt ? 'answer' : 'stdout');
  if (text !== undefined)
    return { ...readingOf(text, isPrompt ? 'heeded' : 'ignored'), text: isPrompt ? text : '' };
  const state = workflows(workflow)?.states.get(name);
  const needsText =
    state?.kind === 'prompt' && state.policy.evaluators.some(({ kind }) => kind === 'matches');
  return needsText || !tags ? undefined : { tags, bad: [], text: '' };
}

/** The recorded answer of a judge, a check or a handover. */
async function readingOfOutcome(
  { answer }: DecidingAgain,
  { started, ended }: Outcome,
): Promise<Reading | undefined> {
  if (started.task === 'check') return { ...NO_TAGS, text: '', exit: ended.exit };
  const text = await answer(ended, 'answer');
  // It is only passed on.
  if (started.task === 'handover') return { ...NO_TAGS, text: text ?? '(not kept)' };
  return text === undefined ? undefined : { ...readingOf(text, 'heeded'), text };
}

/** The answers that matter: a check succeeds or fails, and a judge gives the expected verdict or another one. */
function possibleReadings(
  workflows: Workflows,
  agent: Agent | undefined,
  { task }: RunEventOf<'step-started'>,
): readonly Reading[] {
  if (task === 'check') return [0, 1].map((exit) => ({ ...NO_TAGS, text: '', exit }));
  if (task === 'handover') return [{ ...NO_TAGS, text: '(not known)' }];
  const state = agent && workflows(agent.workflow)?.states.get(agent.state);
  const judging = agent?.status.kind === 'ready' ? agent.status.task : undefined;
  const evaluators = state?.kind === 'prompt' ? state.policy.evaluators : [];
  const evaluator = judging?.kind === 'judge' ? evaluators[judging.evaluator] : undefined;
  const expected = evaluator?.kind === 'prompt' ? evaluator.expect : '';
  return [expected, `not ${expected}`].map((body) => ({
    tags: [{ name: 'result', attributes: {}, body }],
    bad: [],
    text: '',
  }));
}

function unknownOutcome(
  { task, state }: RunEventOf<'step-started'>,
  command: string | undefined,
): string {
  if (task === 'check') return `The outcome of the check \`${command}\` is not known.`;
  return task === 'judge'
    ? `The verdict of ${state} is not known.`
    : `The handover of ${state} is not known.`;
}

/** The facts about directories and worktrees are those of then. Workflows are looked up again. */
async function factsFor(
  { workflows, findWorkflow }: DecidingAgain,
  agent: Agent,
  reading: TagReading,
  then: Decision,
): Promise<Facts> {
  const needed = needs(workflows, agent, reading);
  const failure = failureIn(then);
  const problem = (kind: Failure['kind']) =>
    failure?.kind === kind ? ({ found: false, problem: failure.message } as const) : undefined;
  const found = new Map<string, Located<WorkflowFact>>();
  for (const path of needed.workflows)
    found.set(path, problem('bad-workflow') ?? (await findWorkflow(path, agent)));
  const directoryAt = (path: string) =>
    ({ found: true, path: resolve(agent.cwd, path), inProject: true }) as const;
  const tree = { found: true, tree: undefined } as const;
  return {
    directories: new Map(
      [...needed.directories].map((path) => [path, problem('bad-directory') ?? directoryAt(path)]),
    ),
    workflows: found,
    worktrees: new Map(
      [...needed.worktrees.keys()].map((key) => [key, problem('bad-worktree') ?? tree]),
    ),
    environment: new Set(),
  };
}

export function startOf(agent: string, at: number): StartStep {
  return { kind: 'start-step', at, agent, newSession: '', executors: { script: '' } };
}

/** Limits and budgets delay and stop a run, but they do not say where it goes. */
export function unlimited(run: Run): Run {
  const settings = {
    ...run.settings,
    budgetUsd: 0,
    maxIterations: 0,
    maxParallelPrompts: Number.POSITIVE_INFINITY,
    maxParallelScripts: Number.POSITIVE_INFINITY,
  };
  return { ...run, settings, status: { kind: 'active' }, limits: NO_LIMITS, closed: {} };
}
