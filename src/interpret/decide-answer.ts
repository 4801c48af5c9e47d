/**
 * Decides what follows from an answer: checks its tags, asks the evaluators, executes the checks, and
 * follows the tags.
 */
import type { RunEvent, Task } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { Facts } from '../model/input.ts';
import type { Tag, TagReading } from '../model/tag.ts';
import { unreachable } from '../model/unreachable.ts';
import type { AllowedTransition, PromptState, State, Workflow } from '../model/workflow.ts';
import { implicitTag } from '../parse/implicit.ts';
import { brokenBecause } from '../parse/resolve.ts';
import { readMove } from '../parse/transition.ts';
import {
  type AfterStep,
  type Answer,
  choicesIn,
  fail,
  followHeldTags,
  followMove,
  followTags,
} from './after-step.ts';
import { agentMove } from './agent-choice.ts';
import { checked, ensured } from './check-ensures.ts';
import { evaluate } from './evaluate.ts';
import { readFilling, unfilledNames } from './fill-prompt.ts';
import { handOver } from './follow.ts';
import { visitKey } from './new-run.ts';
import { policyProblem, reminderText } from './policy.ts';
import { refusalLines } from './rights.ts';

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
  // Its policy is unknown, so no transition can be allowed.
  if (state.kind === 'broken') {
    return fail(context, { kind: 'broken-state', message: brokenBecause(state) });
  }
  if (task.kind === 'judge') return judged(context, task, workflow, state, answer);
  if (task.kind === 'check') return checked(context, task, answer);
  if (task.kind === 'handover') return handedOver(context, task, answer);
  if (task.kind === 'fill') return filled(context, state, answer);
  return decided(context, workflow, state, answer);
}

export const MOST_REMINDERS = 3;

function decided(
  context: AfterStep,
  workflow: Workflow,
  state: State,
  answer: Answer,
): readonly RunEvent[] {
  const policy = state.kind === 'prompt' ? state.policy : undefined;
  const choices = choicesIn(context);
  const tags = writtenOrImplied(state, answer.reading, choices);
  const move = readMove(tags, choices, policy ? 'agent' : 'author');
  const refuse = (failure: Failure) =>
    remindOrFail(context, failure, policy?.allowed, () => explained(failure, state, answer));
  if (!move.ok) return refuse({ kind: move.kind, message: move.message });

  const forbidden = policy?.allowed && policyProblem(workflow, policy.allowed, tags.tags);
  if (forbidden) return refuse({ kind: 'forbidden-transition', message: forbidden });
  const standpoint = { run: context.run, workflow, facts: answer.facts };
  const chosen = policy
    ? agentMove(standpoint, policy.allowed, tags.tags, move.value)
    : { ok: true as const, move: move.value };
  if (!chosen.ok) return refuse(chosen.failure);

  const followed = followMove(context, chosen.move, answer.facts);
  if (state.kind !== 'prompt') return followed.ok ? followed.events : refuse(followed.failure);
  // A reminder cannot help against too many visits, but an evaluator may lead elsewhere.
  if (!followed.ok && followed.failure.kind !== 'too-many-visits') return refuse(followed.failure);
  return evaluated(context, state, {
    output: answer.text,
    tags: tags.tags,
    from: 0,
    facts: answer.facts,
    whenPassed: () =>
      followed.ok
        ? ensured(context, workflow, state, {
            tags: tags.tags,
            from: 0,
            whenMet: () => followed.events,
          })
        : fail(context, followed.failure),
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
  const key = visitKey(agent.workflow, agent.state);
  const entries = agent.entries[key] ?? [];
  const step = {
    output,
    visits: agent.visits[key] ?? 0,
    sameEntries: entries.filter((digest) => digest === agent.entered).length,
    costUsd: agent.costUsd,
  };
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
  workflow: Workflow,
  state: State,
  answer: Answer,
): readonly RunEvent[] {
  const { evaluator: index, output, tags } = task;
  const { facts } = answer;
  const whenMet = () => followHeldTags(context, state, tags, facts);
  if (state.kind !== 'prompt') return whenMet();
  const whenPassed = () => ensured(context, workflow, state, { tags, from: 0, whenMet });
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

/** The whole answer is the handover. Tags in it are text. */
function handedOver(
  context: AfterStep,
  task: Extract<Task, { kind: 'handover' }>,
  { text }: Answer,
): readonly RunEvent[] {
  const { workflows, run, agent, at } = context;
  if (text.trim() !== '') return handOver(workflows, run, agent, task, at, text);
  const message = `${agent.id} was asked for a handover and wrote nothing.`;
  return fail(context, { kind: 'no-transition', message });
}

/** The values of a filling model, which may be reminded once it has not answered as it should. */
function filled(context: AfterStep, state: State, { text }: Answer): readonly RunEvent[] {
  const { run, agent, task, at } = context;
  const names = state.kind === 'prompt' ? unfilledNames(state, run, agent) : [];
  const read = readFilling(text, names);
  if ('values' in read)
    return [{ type: 'prompt-filled', at, agent: agent.id, values: read.values }];
  const message = `The values for ${agent.state} cannot be used: ${read.problem}.`;
  const failure: Failure = { kind: 'no-transition', message };
  const number = remindersSoFar(task) + 1;
  const { ownSession } = context;
  if (number > MOST_REMINDERS || !ownSession) return fail(context, failure);
  const again = `Your answer cannot be used: ${read.problem}. Answer with one JSON object and nothing else. Its keys: ${names.join(', ')}. Each value is a text.`;
  const reminder = { number, failure, text: again, ...ownSession };
  return [{ type: 'agent-reminded', at, agent: agent.id, ...reminder }];
}

const JUDGE_MAY: readonly AllowedTransition[] = [
  { tag: 'result', attributes: {}, line: 0, column: 0 },
];

function remindOrFail(
  context: AfterStep,
  failure: Failure,
  allowed: readonly AllowedTransition[] | undefined,
  whenFailed = () => failure,
): readonly RunEvent[] {
  const { agent, task, at } = context;
  const sent = remindersSoFar(task);
  if (!allowed || sent >= MOST_REMINDERS) return fail(context, whenFailed());
  return [
    {
      type: 'agent-reminded',
      at,
      agent: agent.id,
      number: sent + 1,
      failure,
      text: [reminderText(failure.message, allowed), ...refusalLines(context.refused)].join('\n'),
      ...(task.kind === 'judge' && context.ownSession),
    },
  ];
}

/** The most frequent failure of all, so it shows what was said instead of a tag, and the remedy. */
function explained(failure: Failure, state: State, { text }: Answer): Failure {
  if (failure.kind !== 'no-transition') return failure;
  if (state.kind !== 'prompt')
    return withMore(failure, `${state.name} must print one, such as <result>done</result>.`);
  const words = text.trim().replaceAll(/\s+/g, ' ');
  const tail = words.length > LONGEST_WORDS ? `…${words.slice(-LONGEST_WORDS)}` : words;
  const said = tail === '' ? 'The agent said nothing.' : `The agent's last words: "${tail}".`;
  const remedy = state.policy.allowed
    ? `Say more clearly in ${state.name} how the step ends.`
    : `Say in ${state.name} with which tag the step ends, or list its allowed_transitions, so that Raymond can remind the agent.`;
  return withMore(failure, `${said} ${remedy}`);
}

const LONGEST_WORDS = 160;

const withMore = (failure: Failure, more: string): Failure => ({
  ...failure,
  message: `${failure.message} ${more}`,
});

function remindersSoFar(task: Task): number {
  if (task.kind === 'reminder') return task.number;
  return task.kind === 'judge' || task.kind === 'fill' ? (task.reminder?.number ?? 0) : 0;
}
