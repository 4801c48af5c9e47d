/** Decides what follows from the end of a step. */
import { laneName } from '../model/agent.ts';
import type { RunEvent, RunEventOf, StepEndEvent } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { StepEnded } from '../model/input.ts';
import { limitOf } from '../model/limits.ts';
import type { Refusal } from '../model/rights.ts';
import type { Agent, Run, RunningStatus } from '../model/run.ts';
import { unreachable } from '../model/unreachable.ts';
import type { AfterStep } from './after-step.ts';
import { apply } from './apply.ts';
import { ownerOf, taskOf } from './change-agent.ts';
import { decideOnAnswer } from './decide-answer.ts';
import { failAgent } from './fail-agent.ts';
import type { Workflows } from './follow.ts';
import { closedBy, otherLanes } from './lanes.ts';
import { recover } from './recover.ts';
import { levelsOf, refusedBy } from './rights.ts';
import { lanesAt } from './start-step.ts';
import { stopAgent } from './stop-agent.ts';

/** Applies the end of the step to the run first, and then decides on that run what follows. */
export function stepEnded(workflows: Workflows, run: Run, input: StepEnded): readonly RunEvent[] {
  const running = run.agents.get(input.agent);
  if (running?.status.kind !== 'running' || running.status.step !== input.step) return [];
  const { outcome, at } = input;
  const ended = endEvent(workflows, run, running, input);
  const after = apply(run, ended);
  const agent = after.agents.get(running.id);
  if (!agent) throw new Error('Bug: the end of a step removed its agent');
  const { stoppedBy } = running;
  if (stoppedBy !== undefined) return [ended, stopAgent(after, agent, stoppedBy, at)];
  const { task, session, executor, lane } = running.status;
  const context: AfterStep = {
    workflows,
    run: after,
    agent,
    task,
    ownSession: session && {
      session: (ended.session ?? session).id,
      ...ownerOf({ executor, lane: lane && laneName(lane) }),
    },
    refused: ended.refused ?? [],
    at,
  };

  switch (outcome.kind) {
    case 'answered':
      return [ended, ...decideOnAnswer(context, outcome)];
    case 'failed':
      return [ended, ...failed(context, outcome.failure, running.status)];
    case 'interrupted':
      return [ended];
    default:
      return unreachable(outcome);
  }
}

function endEvent(
  workflows: Workflows,
  run: Run,
  agent: Agent,
  { at, step, outcome, worktree }: StepEnded,
): StepEndEvent {
  const looked = worktree && { worktree };
  const refused = withLevels(workflows, run, agent, outcome.account.refused);
  const over = { at, agent: agent.id, step, ...outcome.account, ...refused, ...looked };
  switch (outcome.kind) {
    case 'answered': {
      const { answer, exit, denied } = outcome;
      const said = { ...(answer && { answer }), ...(exit !== undefined && { exit }) };
      return { type: 'step-ended', ...over, ...said, denied };
    }
    case 'failed':
      return { type: 'step-failed', ...over, failure: outcome.failure };
    case 'interrupted': {
      const repeat = howToRepeat(workflows, agent, outcome.sessionUsable);
      return { type: 'step-interrupted', ...over, repeat };
    }
    default:
      return unreachable(outcome);
  }
}

/** Says whose rights would have to allow what the sandbox refused. */
function withLevels(
  workflows: Workflows,
  run: Run,
  agent: Agent,
  refused: readonly Refusal[] = [],
): Pick<StepEndEvent, 'refused'> {
  if (refused.length === 0 || agent.status.kind !== 'running') return {};
  const levels = levelsOf(workflows, run, agent, agent.status.state);
  return { refused: refused.map((one) => ({ ...one, by: refusedBy(levels, one, agent.cwd) })) };
}

function howToRepeat(
  workflows: Workflows,
  agent: Agent,
  sessionUsable: boolean,
): RunEventOf<'step-interrupted'>['repeat'] {
  const state = workflows(agent.workflow)?.states.get(agent.state);
  const { kind } = taskOf(agent.status);
  // They only write a text, so there is no work to continue.
  if (kind === 'handover' || kind === 'fill') return 'restart';
  if (state?.kind !== 'prompt' || !sessionUsable) return 'restart';
  return state.policy.onInterrupt;
}

function failed(
  context: AfterStep,
  failure: Failure,
  { executor: taker, lane, session }: RunningStatus,
): readonly RunEvent[] {
  const { run, agent, at } = context;
  const { task } = context;
  const isScript =
    task.kind === 'check' ||
    (task.kind === 'state' &&
      context.workflows(agent.workflow)?.states.get(agent.state)?.kind === 'script');
  const pausesMs = run.settings.retryPausesMs;
  // Another agent does not know a session that is continued or branched.
  const mayLeave = lane !== undefined && session?.use === 'fresh';
  const all = mayLeave ? lanesAt(context.workflows, run, agent, otherThan(lane.agent)) : undefined;
  const others = mayLeave && all ? otherLanes(run, lane, all, at) : undefined;
  const recovery = recover(failure, { retries: agent.retries, isScript, at, pausesMs, others });
  switch (recovery.kind) {
    case 'fail':
      return failAgent(run, agent.id, failure, at);
    case 'retry':
      return [{ type: 'agent-waits', at, agent: agent.id, until: recovery.until }];
    case 'next-lane': {
      const { why, until } = recovery;
      const next = others?.next;
      if (!lane || next === undefined) throw new Error('Bug: there is no other lane');
      const executor = closedBy(why, lane);
      return [{ type: 'usage-limited', at, agent: agent.id, until, executor, next, why }];
    }
    case 'wait': {
      const filler =
        task.kind === 'fill' ? lanesAt(context.workflows, run, agent, undefined) : undefined;
      const closed = lane ?? filler?.lanes[0];
      const executor = closed ? laneName(closed) : taker;
      const next = others?.next;
      const limited: RunEvent = {
        type: 'usage-limited',
        at,
        agent: agent.id,
        // Not before a limit that another agent has reached: all wait for the last one.
        until: Math.max(recovery.until, limitOf(run.limits, executor) ?? 0),
        ...(executor !== undefined && { executor }),
        ...(next !== undefined && { next }),
      };
      const pauses = next === undefined && !run.settings.wait && run.status.kind === 'active';
      return pauses
        ? [limited, { type: 'stop-requested', at, how: 'drain', why: 'usage-limit' }]
        : [limited];
    }
    default:
      return unreachable(recovery);
  }

  /** The executor that takes all prompts, if there is only one. */
  function otherThan(name: string): string | undefined {
    return taker === name ? undefined : taker;
  }
}
