import type { RunEvent, Session, SessionUse, StopReason, Task } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { StartStep } from '../model/input.ts';
import { firstLimit } from '../model/limits.ts';
import type { Agent, Run } from '../model/run.ts';
import type { StateName } from '../model/state-name.ts';
import { roundUsd } from '../model/tally.ts';
import type { PromptState, ScriptState, Workflow } from '../model/workflow.ts';
import { agentNamed } from '../parse/chosen-agent.ts';
import { limitsOf } from '../parse/limits.ts';
import { brokenBecause, resolveState } from '../parse/resolve.ts';
import { type Owner, taskOf } from './change-agent.ts';
import { failAgent } from './fail-agent.ts';
import { unfilledNames } from './fill-prompt.ts';
import { handOver, type Workflows } from './follow.ts';
import { handoverPrompt } from './handover.ts';
import { choicePlace, type Lanes, lanesFor, takerOf } from './lanes.ts';
import { visitKey } from './new-run.ts';
import { rightsAt } from './rights.ts';
import { takesWords, waitingWords } from './words.ts';

/** Starts an agent's next step if the limits of the run allow it; no events if they do not. */
export function startStep(workflows: Workflows, run: Run, input: StartStep): readonly RunEvent[] {
  const { at } = input;
  const agent = run.agents.get(input.agent);
  if (run.status.kind !== 'active' || agent?.status.kind !== 'ready') return [];

  const exhausted = exhaustedLimit(run, agent);
  if (exhausted) return [{ type: 'stop-requested', at, how: 'drain', why: exhausted }];

  const state = executedState(workflows, run, agent, input.executors.prompt);
  if ('failure' in state) return failAgent(run, agent.id, state.failure, at);
  const taker = state.kind === 'prompt' ? takerOf(run, agent, state, at) : undefined;
  if (state.kind === 'prompt' && !taker) return [];
  if (state.kind === 'prompt' ? !hasPlaceForPrompt(run) : !hasPlaceForScript(run)) return [];
  const isCapped = taker && isCappedBy(state, taker.agent);
  const money = taker ? partFor(run, agent, state.name, isCapped === true) : undefined;
  if (money === 'none') return [];
  const executor = taker?.executor ?? input.executors.script;

  const task = nextTask(workflows(agent.workflow), run, agent);
  const owned = state.kind === 'script' ? agent : withOwnSession(agent, executor);
  // A session that its agent can no longer continue hands nothing over.
  if (task.kind === 'handover' && owned !== agent) return handOver(workflows, run, agent, task, at);
  // A reminder or a continuation means nothing in a new session, so the state begins again.
  const words = state.kind === 'prompt' && takesWords(task) ? waitingWords(agent) : [];
  const isLost = owned !== agent && (task.kind === 'reminder' || task.kind === 'continuation');
  return [
    {
      type: 'step-started',
      at,
      agent: agent.id,
      step: agent.steps + 1,
      attempt: agent.attempts + 1,
      state: state.name,
      task: isLost ? 'state' : task.kind,
      ...(state.kind === 'prompt' && {
        session: sessionFor(owned, task, executor, input.newSession),
      }),
      executor,
      ...(taker?.lane && { lane: taker.lane }),
      ...(input.worker !== undefined && { worker: input.worker }),
      ...(input.queued && { queued: true }),
      ...(money && { reservedUsd: money.usd }),
      ...rightsIn(workflows, run, agent, state.name),
      ...(words.length > 0 && { words }),
      ...notesIn(workflows(agent.workflow), state.name, task),
    },
  ];
}

/** A prompt with placeholders that a model has to fill first is filled first. */
function nextTask(workflow: Workflow | undefined, run: Run, agent: Agent): Task {
  const task = taskOf(agent.status);
  const state = workflow?.states.get(agent.state);
  const needsFill =
    task.kind === 'state' &&
    state?.kind === 'prompt' &&
    unfilledNames(state, run, agent).length > 0;
  return needsFill ? { kind: 'fill' } : task;
}

function rightsIn(workflows: Workflows, run: Run, agent: Agent, state: StateName) {
  const rights = rightsAt(workflows, run, agent, state);
  return rights && { rights };
}

/** A filling model has no tools. */
function notesIn(workflow: Workflow | undefined, state: StateName, { kind }: Task) {
  const { notes } = limitsOf(workflow?.states.get(state));
  return notes && kind !== 'fill' ? { notes } : {};
}

/** Whether the next step of an agent is a prompt of an executor that has reached its usage limit. */
export function waitsForLimit(
  workflows: Workflows,
  run: Run,
  { agent: id, executors, at }: Pick<StartStep, 'agent' | 'executors' | 'at'>,
): boolean {
  if (firstLimit(run.limits) === undefined) return false;
  const agent = run.agents.get(id);
  const state = agent && executedState(workflows, run, agent, executors.prompt);
  if (!state || 'failure' in state || state.kind !== 'prompt') return false;
  return takerOf(run, agent, state, at) === undefined;
}

/** The lanes of the prompt that an agent is at; undefined for a script. */
export function lanesAt(
  workflows: Workflows,
  run: Run,
  agent: Agent,
  executor: string | undefined,
): Lanes | undefined {
  const state = executedState(workflows, run, agent, executor);
  return 'lanes' in state ? state : undefined;
}

function isCappedBy(state: ExecutedState, name: string): boolean {
  return state.kind === 'prompt' && agentNamed(state.agents, name)?.can.budget === true;
}

/** An executor can continue and branch only the sessions that it began. */
function withOwnSession(agent: Agent, executor: string): Agent {
  const { session } = agent;
  if (session.kind === 'none' || owns(executor, session)) return agent;
  return { ...agent, session: NONE };
}

function owns(executor: string, { executor: owner }: Owner): boolean {
  return owner === undefined || owner === executor;
}

const NONE = { kind: 'none' } as const;

type ExecutedState =
  | { readonly kind: 'script'; readonly name: StateName }
  | ({ readonly kind: 'prompt'; readonly name: StateName } & Lanes);

/** The work of the agent's next step: its own state, the judge of it, or a command as a script. */
function executedState(
  workflows: Workflows,
  run: Run,
  agent: Agent,
  executor: string | undefined,
): ExecutedState | { readonly failure: Failure } {
  const workflow = workflows(agent.workflow);
  if (!workflow) {
    return failure(
      'bad-workflow',
      `The workflow ${agent.workflow} of ${agent.id} can no longer be read.`,
    );
  }
  const own = workflow.states.get(agent.state);
  if (!own) return failure('missing-state', `${agent.state} is no longer in ${workflow.ref}.`);
  if (own.kind === 'broken') return failure('broken-state', brokenBecause(own));

  const task = nextTask(workflow, run, agent);
  const prompt = (state: PromptState | ScriptState): ExecutedState => {
    const place = choicePlace(workflows, run, agent, workflow, state);
    const lanes = lanesFor(place, task, agent.session, executor);
    return { kind: 'prompt', name: state.name, lanes, agents: workflow.agents, executor };
  };
  if (task.kind === 'handover') {
    const asked = handoverPrompt(workflow, own);
    if ('problem' in asked) return failure('missing-state', asked.problem);
    return prompt(own);
  }
  if (own.kind !== 'prompt') return script(own.name);
  if (task.kind === 'check') {
    return own.policy.ensures[task.ensure]
      ? script(own.name)
      : failure('missing-state', `${own.name} no longer has its check.`);
  }
  if (task.kind !== 'judge') return prompt(own);
  const evaluator = own.policy.evaluators[task.evaluator];
  if (evaluator?.kind !== 'prompt')
    return failure('missing-state', `${own.name} no longer has its evaluator.`);
  const resolution = resolveState(workflow, evaluator.state);
  const judge = 'found' in resolution ? workflow.states.get(resolution.found) : undefined;
  if (judge?.kind !== 'prompt') {
    const why = 'message' in resolution ? resolution.message : 'It is not a prompt.';
    return failure(
      'missing-state',
      `The judge ${evaluator.state} of ${own.name} cannot be asked. ${why}`,
    );
  }
  return prompt(judge);
}

/** Whether an agent's next step is a prompt: only the state's own text and checks are scripts. */
export function isPromptNext(workflows: Workflows, { status, workflow, state }: Agent): boolean {
  if (status.kind === 'ready' && status.task.kind !== 'state') return status.task.kind !== 'check';
  return workflows(workflow)?.states.get(state)?.kind === 'prompt';
}

/** The rest of the budget; undefined without one. */
export function remainingUsd(run: Run): number | undefined {
  const { budgetUsd } = run.settings;
  return budgetUsd > 0 ? roundUsd(budgetUsd - run.totalCostUsd) : undefined;
}

function exhaustedLimit(run: Run, agent: Agent): StopReason | undefined {
  const remaining = remainingUsd(run);
  if (remaining !== undefined && remaining <= 0) return 'budget';
  const { maxIterations } = run.settings;
  const isNewState =
    agent.status.kind === 'ready' && agent.status.task.kind === 'state' && agent.attempts === 0;
  if (maxIterations > 0 && isNewState && run.iterations >= maxIterations) return 'iterations';
  return undefined;
}

/**
 * The part of the remaining budget for a turn that begins now: as much as a turn of this state is known
 * to cost. Where that is unknown or little, it is up to a dollar, if those that wait can all have as much.
 * So the first agents of a run start together, and their caps keep the sum within the budget.
 *
 * A turn that reaches its part is interrupted and continues with another one. An agent that takes no
 * cap could spend more, so each part is as large as the most expensive turn of the run. `isCapped`: the
 * agent ends a turn that has spent its part.
 */
function partFor(
  run: Run,
  { workflow }: Agent,
  name: StateName,
  isCapped: boolean,
): { readonly usd: number } | 'none' | undefined {
  const remaining = remainingUsd(run);
  if (remaining === undefined) return undefined;
  // Nobody else can begin a turn before this one ends.
  if (run.agents.size === 1) return { usd: remaining };
  const { promptsRunning, reservedUsd, ready } = run.tally;
  const free = Math.max(0, roundUsd(remaining - reservedUsd));
  const waiting = Math.max(1, Math.min(ready, run.settings.maxParallelPrompts - promptsRunning));
  const ofState = run.turnCosts.get(visitKey(workflow, name));
  const known = isCapped ? ofState : (run.dearestTurnUsd ?? ofState);
  const share = remaining / (promptsRunning + waiting);
  const expected = known ?? Math.min(USUAL_USD, share);
  // Without a cap, a turn that costs nothing needs nothing.
  const least = isCapped || known === undefined ? Math.max(LEAST_USD, expected) : expected;
  if (promptsRunning > 0 && free < roundUsd(least)) return 'none';
  const most = Math.min(USUAL_USD, free / waiting);
  return { usd: roundUsd(Math.min(free, Math.max(least, most))) };
}

/** The part for a turn whose cost is unknown. */
const USUAL_USD = 1;

/** Less would hardly pay for one call, and each turn may exceed its part by one call. */
const LEAST_USD = 0.05;

function hasPlaceForPrompt({ tally, settings }: Run): boolean {
  // A turn that waits for a person has no place.
  return tally.promptsRunning - tally.asksPermission < settings.maxParallelPrompts;
}

function hasPlaceForScript({ tally, settings }: Run): boolean {
  return tally.scriptsRunning < settings.maxParallelScripts;
}

function sessionFor(agent: Agent, task: Task, executor: string, newSession: string): SessionUse {
  if (task.kind === 'judge' || task.kind === 'fill') {
    return task.reminder && owns(executor, task.reminder)
      ? { use: 'continue', id: task.reminder.session }
      : { use: 'fresh', id: newSession };
  }
  switch (agent.session.kind) {
    case 'none':
      return { use: 'fresh', id: newSession };
    case 'open':
      return { use: 'continue', id: agent.session.id };
    case 'branch':
      return { ...branchOf(agent.session), id: newSession };
  }
}

function script(name: StateName): ExecutedState {
  return { kind: 'script', name };
}

function branchOf({ from, at }: Extract<Session, { kind: 'branch' }>) {
  return { use: 'branch', from, ...(at !== undefined && { at }) } as const;
}

function failure(kind: Failure['kind'], message: string): { readonly failure: Failure } {
  return { failure: { kind, message } };
}
