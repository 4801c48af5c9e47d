import type { RunEvent, Session, SessionUse, StopReason } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { StartStep } from '../model/input.ts';
import { firstLimit, limitOf } from '../model/limits.ts';
import type { Agent, Run } from '../model/run.ts';
import type { StateName } from '../model/state-name.ts';
import type { PromptState } from '../model/workflow.ts';
import { agentOf, sharingLimits } from '../parse/chosen-agent.ts';
import { brokenBecause, resolveState } from '../parse/resolve.ts';
import { taskOf } from './change-agent.ts';
import { failAgent } from './fail-agent.ts';
import type { Workflows } from './follow.ts';

/** Starts an agent's next step if the limits of the run allow it; no events if they do not. */
export function startStep(workflows: Workflows, run: Run, input: StartStep): readonly RunEvent[] {
  const { at } = input;
  const agent = run.agents.get(input.agent);
  if (run.status.kind !== 'active' || agent?.status.kind !== 'ready') return [];

  const exhausted = exhaustedLimit(run, agent);
  if (exhausted) return [{ type: 'stop-requested', at, how: 'drain', why: exhausted }];

  const state = executedState(workflows, agent);
  if ('failure' in state) return failAgent(run, agent.id, state.failure, at);
  const executor = executorOf(state, input.executors);
  if (state.kind === 'prompt' && isLimited(run, state, executor, at)) return [];
  if (state.kind === 'prompt' ? !hasRoomForPrompt(run) : !hasRoomForScript(run)) return [];

  const { task } = agent.status;
  const owned = state.kind === 'script' ? agent : withOwnSession(agent, executor);
  // A reminder or a continuation means nothing in a new session, so the state begins again.
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
      ...(state.kind === 'prompt' && { session: sessionFor(owned, input.newSession) }),
      executor,
      ...(input.worker !== undefined && { worker: input.worker }),
      ...(input.queued && { queued: true }),
    },
  ];
}

/** Whether the next step of an agent is a prompt of an executor that has reached its usage limit. */
export function waitsForLimit(
  workflows: Workflows,
  run: Run,
  { agent: id, executors, at }: Pick<StartStep, 'agent' | 'executors' | 'at'>,
): boolean {
  if (firstLimit(run.limits) === undefined) return false;
  const agent = run.agents.get(id);
  const state = agent && executedState(workflows, agent);
  if (!state || 'failure' in state || state.kind !== 'prompt') return false;
  return isLimited(run, state, executorOf(state, executors), at);
}

function isLimited(
  { limits }: Run,
  { agent, sharing }: ExecutedState & { readonly kind: 'prompt' },
  executor: string,
  at: number,
): boolean {
  const executors = executor === agent ? sharing : [executor];
  return executors.some((one) => at < (limitOf(limits, one) ?? 0));
}

function executorOf(state: ExecutedState, executors: StartStep['executors']): string {
  return state.kind === 'script' ? executors.script : (executors.prompt ?? state.agent);
}

/** An executor can continue and branch only the sessions that it began. */
function withOwnSession(agent: Agent, executor: string): Agent {
  const { session } = agent;
  const owner = session.kind === 'none' ? undefined : session.executor;
  return owner === undefined || owner === executor ? agent : { ...agent, session: NONE };
}

const NONE = { kind: 'none' } as const;

type ExecutedState =
  | { readonly kind: 'script'; readonly name: StateName }
  | {
      readonly kind: 'prompt';
      readonly name: StateName;
      readonly agent: string;
      /** The agents that reach the same usage limits, with this one. */
      readonly sharing: readonly string[];
    };

/** The work of the agent's next step: its own state, the judge of it, or a command as a script. */
function executedState(
  workflows: Workflows,
  agent: Agent,
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

  const task = taskOf(agent.status);
  if (own.kind !== 'prompt') return script(own.name);
  if (task.kind === 'check') {
    return own.policy.ensures[task.ensure]
      ? script(own.name)
      : failure('missing-state', `${own.name} no longer has its check.`);
  }
  const prompt = (state: PromptState): ExecutedState => {
    const taker = agentOf(workflow, state);
    const sharing = sharingLimits(workflow.agents, taker);
    return { kind: 'prompt', name: state.name, agent: taker, sharing };
  };
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

/** The most that a turn may spend; undefined without a budget. */
export function remainingUsd(run: Run): number | undefined {
  const { budgetUsd } = run.settings;
  return budgetUsd > 0 ? roundUsd(budgetUsd - run.totalCostUsd) : undefined;
}

/** Ten times 0.10 must be 1.00. The rounding is finer than any real price. */
const roundUsd = (usd: number) => Math.round(usd * 1e9) / 1e9;

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
 * A turn can be stopped only after the call that overspends. So the first turn runs alone, to find
 * out what a turn costs. Then as many turns may run as the remaining budget covers at the highest
 * price so far.
 */
function hasRoomForPrompt(run: Run): boolean {
  const { promptsRunning, asksPermission } = run.tally;
  // A turn that waits for a person has no place, but it will spend more.
  if (promptsRunning - asksPermission >= run.settings.maxParallelPrompts) return false;
  const remaining = remainingUsd(run);
  if (remaining === undefined || promptsRunning === 0) return true;
  if (run.dearestTurnUsd === undefined) return false;
  return promptsRunning < Math.floor(roundUsd(remaining / run.dearestTurnUsd));
}

function hasRoomForScript(run: Run): boolean {
  return run.tally.scriptsRunning < run.settings.maxParallelScripts;
}

function sessionFor(agent: Agent, newSession: string): SessionUse {
  const task = agent.status.kind === 'ready' ? agent.status.task : undefined;
  if (task?.kind === 'judge') {
    return task.reminder
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
