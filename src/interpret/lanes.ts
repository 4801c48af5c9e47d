/**
 * Which lane takes a prompt. A step that continues or branches a session belongs to the lane that began the
 * session. A fresh session goes to the first lane that is available.
 */
import { type Agents, type Lane, laneName } from '../model/agent.ts';
import type { LaneReason, Session, StepLane, Task } from '../model/event.ts';
import { limitOf } from '../model/limits.ts';
import type { Agent, ClosedLane, Run } from '../model/run.ts';
import type { PromptState, ScriptState, Workflow } from '../model/workflow.ts';
import {
  agentNamed,
  agentsOf,
  type ChoicePlace,
  fillerOf,
  lanesOf,
  sharingLimits,
} from '../parse/chosen-agent.ts';
import { NO_POLICY } from '../parse/policy.ts';
import { type Owner, ownerOf, taskOf } from './change-agent.ts';
import type { Workflows } from './follow.ts';

/** A prompt, for an agent that is at it. A script has none, but its agent may have to write a handover. */
export function choicePlace(
  workflows: Workflows,
  { workflow: ref, settings }: Run,
  { status, choices }: Agent,
  workflow: Workflow,
  own: PromptState | ScriptState,
): ChoicePlace {
  const usual = workflows(ref)?.agents.usual ?? workflow.agents.usual;
  const { kind } = taskOf(status);
  // The choices of a function tag apply to the called state, not to its judge or its filling.
  const tag = kind === 'judge' || kind === 'fill' ? {} : choices;
  const state = own.kind === 'prompt' ? own : { name: own.name, policy: NO_POLICY };
  return { workflow, state, run: settings.agent, usual, tag };
}

/** The lanes of a step. Only those of the state's own text and of a judge are a choice of their author. */
export function lanesFor(
  place: ChoicePlace,
  { kind }: Task,
  session: Session,
  executor?: string,
): readonly Lane[] {
  const { workflow, state, usual } = place;
  if (kind === 'fill') {
    const names = agentsOf(workflow, state);
    const filler = fillerOf(workflow.agents, names) ?? names[0] ?? usual;
    // The limit of its model is not that of the other models of its agent.
    const choices = Object.entries(state.policy.fill ?? {}).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as const] : [],
    );
    return [{ agent: filler, choices: Object.fromEntries(choices) }];
  }
  const lanes = lanesOf(place);
  const { executor: owner } = ownerOf(session);
  if (kind !== 'handover' || owner === undefined || !agentNamed(workflow.agents, owner))
    return lanes;
  // The agent that has the session writes the handover, whatever state is left.
  const hasOwner = lanes.some(({ agent }) => (executor ?? agent) === owner);
  return hasOwner ? lanes : [{ agent: owner, choices: {} }];
}

/** The lanes of a prompt, and who takes them. */
export interface Lanes {
  readonly lanes: readonly Lane[];
  readonly agents: Agents;
  /** The executor that takes all prompts, if there is only one. */
  readonly executor: string | undefined;
}

export interface Taker {
  readonly agent: string;
  readonly executor: string;
  /** Absent if there is only one lane. */
  readonly lane?: StepLane;
}

/** Who takes the next prompt of an agent; undefined if it has to wait for the end of a usage limit. */
export function takerOf(run: Run, agent: Agent, all: Lanes, at: number): Taker | undefined {
  const { lanes } = all;
  const limited = (lane: Lane) => limitEnd(run, lane, all, at);
  const bound = boundLane(agent, all);
  const free = (bound ? [bound] : lanes).filter((lane) => limited(lane) === undefined);
  const lane = free.find((one) => !closing(run, one, at)) ?? free[0];
  if (!lane) return undefined;
  const taker = { agent: lane.agent, executor: executorOf(lane, all) };
  if (lanes.length === 1) return taker;
  const before = bound ? [] : lanes.slice(0, lanes.indexOf(lane));
  const passed = before.flatMap((one) => passedOver(run, one, limited(one), at));
  return { ...taker, lane: stepLane(lane, passed) };
}

type Passed = NonNullable<StepLane['passed']>;

function passedOver(run: Run, lane: Lane, limitedUntil: number | undefined, at: number): Passed {
  const reason: ClosedLane | undefined =
    limitedUntil === undefined
      ? closing(run, lane, at)
      : { why: 'usage-limit', until: limitedUntil };
  return reason ? [{ lane: laneName(lane), ...reason }] : [];
}

function stepLane({ agent, choices }: Lane, passed: Passed): StepLane {
  return {
    agent,
    ...(Object.keys(choices).length > 0 && { choices }),
    ...(passed.length > 0 && { passed }),
  };
}

/** What the other lanes offer to a state whose fresh session has failed in one of them. */
export interface OtherLanes {
  /** The lane that can take the prompt now. */
  readonly next: string | undefined;
  /** Without one: when the first usage limit of the others ends. */
  readonly limitedUntil: number | undefined;
}

export function otherLanes(run: Run, failed: StepLane, all: Lanes, at: number): OtherLanes {
  const name = laneName(failed);
  const others = all.lanes.filter((lane) => laneName(lane) !== name);
  const next = others.find(
    (lane) => limitEnd(run, lane, all, at) === undefined && !closing(run, lane, at),
  );
  const ends = others.flatMap((lane) => limitEnd(run, lane, all, at) ?? []);
  return {
    next: next && laneName(next),
    limitedUntil: ends.length > 0 ? Math.min(...ends) : undefined,
  };
}

/** The lane to which the memory of the next turn belongs; undefined if the turn begins without any. */
function boundLane(agent: Agent, all: Lanes): Lane | undefined {
  const owner = memoryOf(agent);
  if (!owner) return undefined;
  const own = all.lanes.filter(
    (lane) => owner.executor === undefined || executorOf(lane, all) === owner.executor,
  );
  return own.find((lane) => laneName(lane) === owner.lane) ?? own[0];
}

/** A judge and a filling model have their own memory. */
function memoryOf({ status, session }: Agent): Owner | undefined {
  const task = taskOf(status);
  if (task.kind === 'judge' || task.kind === 'fill') return task.reminder;
  return session.kind === 'none' ? undefined : session;
}

/** When the usage limits end that keep a lane from taking prompts; undefined if it can take them. */
function limitEnd({ limits }: Run, lane: Lane, all: Lanes, at: number): number | undefined {
  const names = new Set([
    executorOf(lane, all),
    laneName(lane),
    ...sharingLimits(all.agents, lane.agent),
  ]);
  const ends = [...names].flatMap((name) => limitOf(limits, name) ?? []).filter((end) => at < end);
  return ends.length > 0 ? Math.max(...ends) : undefined;
}

function closing({ closed }: Run, lane: Lane, at: number): ClosedLane | undefined {
  return [closed[laneName(lane)], closed[lane.agent]].find((one) => one && at < one.until);
}

const executorOf = (lane: Lane, { executor }: Lanes) => executor ?? lane.agent;

/** What is closed after a failure: a login is missing for all lanes of an agent. */
export function closedBy(why: LaneReason, lane: StepLane): string {
  return why === 'not-logged-in' ? lane.agent : laneName(lane);
}
