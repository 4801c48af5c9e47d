/**
 * Decides what follows from an answer: checks its tags, asks the evaluators, and follows the tags.
 */
import type { RunEvent, Task } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { Facts, StepReport } from '../model/input.ts';
import type { Agent, Run } from '../model/run.ts';
import type { Tag, TagReading } from '../model/tag.ts';
import type { Move } from '../model/transition.ts';
import { unreachable } from '../model/unreachable.ts';
import type { AllowedTransition, PromptState, State, Workflow } from '../model/workflow.ts';
import { tagChoices } from '../parse/agent-choices.ts';
import { implicitTag } from '../parse/implicit.ts';
import { readMove } from '../parse/transition.ts';
import { choiceProblem } from './agent-choice.ts';
import { evaluate } from './evaluate.ts';
import { failAgent } from './fail-agent.ts';
import { type Followed, follow, type Workflows } from './follow.ts';
import { visitKey } from './new-run.ts';
import { policyProblem, reminderText } from './policy.ts';

/** The run and its agent after a step. */
export interface AfterStep {
  readonly workflows: Workflows;
  readonly run: Run;
  /** The agent after the end of the step. */
  readonly agent: Agent;
  readonly task: Task;
  readonly judgeSession: string | undefined;
  readonly at: number;
}

export function decideOnAnswer(context: AfterStep, answer: Answer): readonly RunEvent[] {
  const { agent, task } = context;
  const workflow = context.workflows(agent.workflow);
  const state = workflow?.states.get(agent.state);
  if (!workflow || !state) {
    return fail(context, {
      kind: 'missing-state',
      message: `${agent.state} is no longer in its workflow.`,
    });
  }
  if (task.kind === 'judge') return judged(context, task, state, answer);
  return decided(context, workflow, state, answer);
}

export const MOST_REMINDERS = 3;

type Answer = Extract<StepReport, { kind: 'answered' }>;

/** The attributes of tags that make a choice for an agent. */
function choicesIn({ workflows, agent }: AfterStep): readonly string[] {
  const workflow = workflows(agent.workflow);
  return workflow ? tagChoices(workflow.agent) : [];
}

function decided(
  context: AfterStep,
  workflow: Workflow,
  state: State,
  answer: Answer,
): readonly RunEvent[] {
  const policy = state.kind === 'prompt' ? state.policy : undefined;
  const choices = choicesIn(context);
  const tags = writtenOrImplied(state, answer.reading, choices);
  const move = readMove(tags, choices);
  const refuse = (failure: Failure) => remindOrFail(context, failure, policy?.allowed);
  if (!move.ok) return refuse({ kind: move.kind, message: move.message });

  const forbidden =
    policy?.allowed && policyProblem(workflow, policy.allowed, tags.tags, move.value);
  if (forbidden) return refuse({ kind: 'forbidden-transition', message: forbidden });
  const standpoint = { run: context.run, workflow, facts: answer.facts };
  const overreach = policy && choiceProblem(standpoint, policy.allowed, tags.tags, move.value);
  if (overreach) return refuse(overreach);

  const followed = followMove(context, move.value, answer.facts);
  if (state.kind !== 'prompt') return followed.ok ? followed.events : refuse(followed.failure);
  // A reminder cannot help against too many visits, but an evaluator may lead elsewhere.
  if (!followed.ok && followed.failure.kind !== 'too-many-visits') return refuse(followed.failure);
  return evaluated(context, state, {
    output: answer.text,
    tags: tags.tags,
    from: 0,
    facts: answer.facts,
    whenPassed: () => eventsOrFailure(context, followed),
  });
}

/** The tags that the agent wrote, or the tag that its policy implies. */
function writtenOrImplied(
  state: State,
  reading: TagReading,
  choices: readonly string[],
): TagReading {
  if (state.kind !== 'prompt') return reading;
  const implicit = implicitTag(state.policy, choices);
  if (!implicit) return reading;
  const wroteNothing = reading.tags.length === 0 && reading.bad.length === 0;
  return state.policy.forceImplicit || wroteNothing ? { tags: [implicit], bad: [] } : reading;
}

interface Pending {
  readonly output: string;
  readonly tags: readonly Tag[];
  /** The first evaluator to ask. */
  readonly from: number;
  readonly facts: Facts;
  /** The events if no evaluator fires: those of the tags. */
  readonly whenPassed: () => readonly RunEvent[];
}

function evaluated(context: AfterStep, state: PromptState, pending: Pending): readonly RunEvent[] {
  const { agent, at } = context;
  const { output, tags } = pending;
  const visits = agent.visits[visitKey(agent.workflow, agent.state)] ?? 0;
  const step = { output, visits, costUsd: agent.costUsd };
  const verdict = evaluate(state.policy.evaluators, pending.from, step);
  switch (verdict.kind) {
    case 'pass':
      return pending.whenPassed();
    case 'override':
      return overridden(context, state, verdict.index, pending);
    case 'ask-judge':
      return [
        { type: 'judge-called', at, agent: agent.id, evaluator: verdict.index, output, tags },
      ];
    default:
      return unreachable(verdict);
  }
}

function overridden(
  context: AfterStep,
  state: PromptState,
  index: number,
  pending: Pending,
): readonly RunEvent[] {
  const evaluator = state.policy.evaluators[index];
  if (!evaluator) return pending.whenPassed();
  const override: RunEvent = {
    type: 'transition-overridden',
    at: context.at,
    agent: context.agent.id,
    evaluator: index,
    by: evaluator.kind,
    written: pending.tags,
    taken: evaluator.transition,
  };
  return [override, ...followTags(context, [evaluator.transition], pending.facts)];
}

/** A judge must give a result. Any result but the expected one fires its evaluator. */
function judged(
  context: AfterStep,
  task: Extract<Task, { kind: 'judge' }>,
  state: State,
  answer: Answer,
): readonly RunEvent[] {
  const { evaluator: index, output, tags } = task;
  const { facts } = answer;
  const whenPassed = () => followHeldTags(context, state, tags, facts);
  if (state.kind !== 'prompt') return whenPassed();
  const move = readMove(answer.reading, choicesIn(context));
  const verdict = move.ok && move.value.own.tag === 'result' ? move.value.own.payload : undefined;
  if (verdict === undefined) {
    const message = move.ok ? 'A judge can only give a result.' : move.message;
    return remindOrFail(
      context,
      { kind: move.ok ? 'forbidden-transition' : move.kind, message },
      JUDGE_MAY,
    );
  }
  const evaluator = state.policy.evaluators[index];
  const pending = { output, tags, facts, whenPassed };
  const isExpected = evaluator?.kind === 'prompt' && verdict.trim() === evaluator.expect.trim();
  return isExpected
    ? evaluated(context, state, { ...pending, from: index + 1 })
    : overridden(context, state, index, { ...pending, from: index });
}

const JUDGE_MAY: readonly AllowedTransition[] = [{ tag: 'result', attributes: {}, line: 0 }];

/**
 * A judge takes time. So the tags that the agent wrote before are checked against the current
 * facts.
 */
function followHeldTags(
  context: AfterStep,
  state: State,
  tags: readonly Tag[],
  facts: Facts,
): readonly RunEvent[] {
  const workflow = context.workflows(context.agent.workflow);
  const allowed = state.kind === 'prompt' ? state.policy.allowed : undefined;
  const move = readMove({ tags, bad: [] }, choicesIn(context));
  const standpoint = workflow && { run: context.run, workflow, facts };
  const overreach = standpoint && move.ok && choiceProblem(standpoint, allowed, tags, move.value);
  return overreach ? fail(context, overreach) : followTags(context, tags, facts);
}

function followTags(context: AfterStep, tags: readonly Tag[], facts: Facts): readonly RunEvent[] {
  const move = readMove({ tags, bad: [] }, choicesIn(context));
  if (!move.ok) return fail(context, { kind: move.kind, message: move.message });
  return eventsOrFailure(context, followMove(context, move.value, facts));
}

function followMove({ workflows, run, agent, at }: AfterStep, move: Move, facts: Facts): Followed {
  return follow({ workflows, run, agent, facts, at }, move);
}

function eventsOrFailure(context: AfterStep, followed: Followed): readonly RunEvent[] {
  return followed.ok ? followed.events : fail(context, followed.failure);
}

function remindOrFail(
  context: AfterStep,
  failure: Failure,
  allowed: readonly AllowedTransition[] | undefined,
): readonly RunEvent[] {
  const { agent, task, at } = context;
  const sent = remindersSoFar(task);
  if (!allowed || sent >= MOST_REMINDERS) return fail(context, failure);
  return [
    {
      type: 'agent-reminded',
      at,
      agent: agent.id,
      number: sent + 1,
      failure,
      text: reminderText(failure.message, allowed),
      ...(task.kind === 'judge' && context.judgeSession && { session: context.judgeSession }),
    },
  ];
}

function remindersSoFar(task: Task): number {
  if (task.kind === 'reminder') return task.number;
  return task.kind === 'judge' ? (task.reminder?.number ?? 0) : 0;
}

function fail({ run, agent, at }: AfterStep, failure: Failure): readonly RunEvent[] {
  return failAgent(run, agent.id, failure, at);
}
