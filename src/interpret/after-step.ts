/** The events that follow from tags, for an agent whose step has ended. */
import type { RunEvent, Task } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { Facts, StepReport } from '../model/input.ts';
import type { Refusal } from '../model/rights.ts';
import type { Agent, Run } from '../model/run.ts';
import type { Tag } from '../model/tag.ts';
import type { Move } from '../model/transition.ts';
import type { State } from '../model/workflow.ts';
import { tagChoices } from '../parse/agent-choices.ts';
import { readMove } from '../parse/transition.ts';
import { agentMove } from './agent-choice.ts';
import type { Owner } from './change-agent.ts';
import { failAgent } from './fail-agent.ts';
import { type Followed, follow, type Workflows } from './follow.ts';
import { policyProblem } from './policy.ts';

/** The run and its agent after a step. */
export interface AfterStep {
  readonly workflows: Workflows;
  readonly run: Run;
  /** The agent after the end of the step. */
  readonly agent: Agent;
  readonly task: Task;
  /** The session of a step that may have its own, such as that of a judge, and to whom it belongs. */
  readonly ownSession: (Owner & { readonly session: string }) | undefined;
  /** What the sandbox refused to the step. */
  readonly refused: readonly Refusal[];
  readonly at: number;
}

export type Answer = Extract<StepReport, { kind: 'answered' }>;

/**
 * A judge and a check take time, and a resume may have accepted changes in between, so the agent's
 * earlier tags are checked against the current facts and the current policy.
 */
export function followHeldTags(
  context: AfterStep,
  state: State,
  tags: readonly Tag[],
  facts: Facts,
): readonly RunEvent[] {
  const workflow = context.workflows(context.agent.workflow);
  const move = readMove({ tags, bad: [] }, choicesIn(context), 'agent');
  if (!workflow || !move.ok) return followTags(context, tags, facts);
  const allowed = state.kind === 'prompt' ? state.policy.allowed : undefined;
  const forbidden = allowed && policyProblem(workflow, allowed, tags);
  if (forbidden) return fail(context, { kind: 'forbidden-transition', message: forbidden });
  const chosen = agentMove({ run: context.run, workflow, facts }, allowed, tags, move.value);
  if (!chosen.ok) return fail(context, chosen.failure);
  return eventsOrFailure(context, followMove(context, chosen.move, facts));
}

export function followTags(
  context: AfterStep,
  tags: readonly Tag[],
  facts: Facts,
): readonly RunEvent[] {
  const move = readMove({ tags, bad: [] }, choicesIn(context));
  if (!move.ok) return fail(context, { kind: move.kind, message: move.message });
  return eventsOrFailure(context, followMove(context, move.value, facts));
}

export function followMove(
  { workflows, run, agent, at }: AfterStep,
  move: Move,
  facts: Facts,
): Followed {
  return follow({ workflows, run, agent, facts, at }, move);
}

export function eventsOrFailure(context: AfterStep, followed: Followed): readonly RunEvent[] {
  return followed.ok ? followed.events : fail(context, followed.failure);
}

export function fail({ run, agent, at }: AfterStep, failure: Failure): readonly RunEvent[] {
  return failAgent(run, agent.id, failure, at);
}

/** The attributes of tags that make a choice for an agent. */
export function choicesIn({ workflows, agent }: AfterStep): readonly string[] {
  const workflow = workflows(agent.workflow);
  return workflow ? tagChoices(workflow.agents) : [];
}
