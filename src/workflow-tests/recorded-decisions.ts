/** The decisions of a run, each with everything that led to it, and their comparison. */
import { stateAfter } from '../interpret/joins.ts';
import type { RunEvent, RunEventOf } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { StateName } from '../model/state-name.ts';
import type { Tag } from '../model/tag.ts';
import { unreachable } from '../model/unreachable.ts';
import { clip } from '../parse/clip.ts';
import { stemOf } from '../parse/state.ts';

/** The part of a workflow whose change leads a run elsewhere, or may do so. */
export type Cause = 'policy' | 'target' | 'template' | 'script';

/** The consequence of an agent's answer. */
export interface Decision {
  /** The forks, and then the event that says what the agent does next. Empty if the run ended before. */
  readonly events: readonly DecisionEvent[];
  /** The transition that took the place of the written one. */
  readonly override: RunEventOf<'transition-overridden'> | undefined;
}

/** A decision that the journal has. */
export interface RecordedDecision extends Decision {
  /** The number of its last event. */
  readonly last: number | undefined;
  /** The ends of judges, checks and handovers before it, by `outcomeKey`. */
  readonly outcomes: ReadonlyMap<string, readonly Outcome[]>;
  /** The key of the one that has not ended. */
  readonly unended: string | undefined;
  /** The tags of the answer; undefined if the journal does not have all their parts. */
  readonly tags: readonly Tag[] | undefined;
}

export interface Outcome {
  readonly started: RunEventOf<'step-started'>;
  readonly ended: RunEventOf<'step-ended'>;
}

const DECISIONS = [
  'agent-forked',
  'agent-moved',
  'agent-asked',
  'agent-ended',
  'agent-failed',
  'agent-reminded',
  'join-started',
] as const;

type DecisionEvent = RunEventOf<(typeof DECISIONS)[number]>;

/** The task of a step that decides for its state. Others are about the decision of such a step. */
export const isOwnTask = (task: string) =>
  task === 'state' || task === 'reminder' || task === 'continuation';

/** A check is known by its command. */
export function outcomeKey(task: string, state: string, command: string | undefined): string {
  if (task === 'handover') return task;
  return task === 'check' ? `check ${command}` : `${task} ${state}`;
}

/** The part of some events that decides what an agent does next. */
export function decisionIn(events: readonly RunEvent[], agent: string): Decision {
  return {
    events: events.filter(
      (event): event is DecisionEvent => isDecision(event) && isOf(event, agent),
    ),
    override: events.findLast((event) => event.type === 'transition-overridden'),
  };
}

/** Finds the decisions of each agent. Looks at each event at most twice. */
export class RecordedDecisions {
  readonly #events: readonly RunEvent[];
  /** The numbers of the events about each agent. */
  readonly #ofAgent = new Map<string, number[]>();

  constructor(events: readonly RunEvent[]) {
    this.#events = events;
    for (const [index, event] of events.entries()) {
      const agent = ownerOf(event);
      if (agent === undefined) continue;
      const own = this.#ofAgent.get(agent);
      if (own) own.push(index);
      else this.#ofAgent.set(agent, [index]);
    }
  }

  /** The consequence of the end of a step. */
  after(index: number, agent: string): RecordedDecision {
    const own = this.#ofAgent.get(agent) ?? [];
    const outcomes = new Map<string, Outcome[]>();
    const seen: RunEvent[] = [];
    let tags: readonly Tag[] | undefined;
    let started: RunEventOf<'step-started'> | undefined;
    let command: string | undefined;
    let unended: string | undefined;
    const done = (last?: number): RecordedDecision => {
      const decision = decisionIn(last === undefined ? [] : seen, agent);
      return { ...decision, last, outcomes, unended, tags: tags ?? tagsOf(decision.events) };
    };
    for (let at = positionAfter(own, index); at < own.length; at++) {
      const number = own[at] ?? 0;
      const event = this.#events[number];
      if (!event) break;
      seen.push(event);
      if (event.type === 'step-started') {
        if (isOwnTask(event.task)) break;
        started = event;
        unended = outcomeKey(event.task, event.state, command);
      } else if (event.type === 'step-ended' && started && unended !== undefined) {
        outcomes.set(unended, [...(outcomes.get(unended) ?? []), { started, ended: event }]);
        unended = undefined;
      } else if (event.type === 'check-called') {
        command = event.run;
        tags ??= event.tags;
      } else if (event.type === 'judge-called') tags ??= event.tags;
      else if (event.type === 'transition-overridden') tags ??= event.written;
      else if (event.type === 'agent-stopped') break;
      else if (isDecision(event) && event.type !== 'agent-forked') return done(number);
    }
    return done();
  }
}

/** The first position whose number is larger. The numbers are in order. */
function positionAfter(numbers: readonly number[], number: number): number {
  let from = 0;
  let to = numbers.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((numbers[middle] ?? 0) <= number) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** A reminder of a judge decides nothing. */
function isDecision(event: RunEvent): event is DecisionEvent {
  if (event.type === 'agent-reminded') return event.session === undefined;
  return DECISIONS.some((type) => type === event.type);
}

const isOf = (event: RunEvent, agent: string) => ownerOf(event) === agent;

/** A fork is a decision of the parent. */
function ownerOf(event: RunEvent): string | undefined {
  if (event.type === 'agent-forked') return event.parent;
  return 'agent' in event ? event.agent : undefined;
}

/** The tag that an event follows, if its parts are all known. */
function tagsOf(events: readonly DecisionEvent[]): readonly Tag[] | undefined {
  const [event, ...others] = events;
  if (!event || others.length > 0) return undefined;
  if (event.type === 'agent-ended') return [{ name: 'result', attributes: {}, body: event.result }];
  if (event.type !== 'agent-moved') return undefined;
  const { tag: name, state, stack, input, choices } = event;
  const given = { ...choices, ...(input !== undefined && { input }) };
  switch (name) {
    case 'goto':
    case 'reset':
    case 'compact':
      return [{ name, attributes: given, body: state }];
    case 'call':
    case 'function':
      return stack.kind === 'push'
        ? [{ name, attributes: { ...given, return: stack.frame.state }, body: state }]
        : undefined;
    case 'result':
      return [{ name, attributes: {}, body: input ?? '' }];
    default:
      return undefined;
  }
}

export interface Departure {
  readonly cause: Cause;
  readonly message: string;
  /** Where the run went, and where it would go. Absent if it goes to the same place with other values. */
  readonly paths?: { readonly was: string; readonly now: string };
  /** The text that the agent would get. */
  readonly reminder?: string;
  /** The answer would be refused. */
  readonly isRefused?: true;
}

/** How a decision differs from the recorded one; undefined if both lead to the same place. */
export function departure(was: Decision, now: Decision): Departure | undefined {
  if (was.events.length === 0) return undefined;
  const [before, after] = [was, now].map(({ events }) =>
    JSON.stringify(events.map((event) => placeIn(event))),
  );
  if (before === after) return withOtherValues(was, now);
  const paths = { was: shownDecision(was), now: shownDecision(now) };
  const [wasRefused, isRefused] = [failureIn(was), failureIn(now)];
  const reminded = now.events.findLast((event) => event.type === 'agent-reminded');
  if (isRefused)
    return {
      cause: causeOf(isRefused),
      message: isRefused.message,
      paths,
      ...(reminded && { reminder: reminded.text }),
      ...(!LIMITS.includes(isRefused.kind) && { isRefused: true }),
    };
  if (wasRefused)
    return {
      cause: causeOf(wasRefused),
      message: `It was refused then: ${wasRefused.message}`,
      paths,
    };
  if (now.override)
    return { cause: 'policy', message: `${deciderOf(now.override)} now decides.`, paths };
  if (was.override)
    return { cause: 'policy', message: `${deciderOf(was.override)} decided then.`, paths };
  const [namedBefore, namedAfter] = [was.events, now.events].map((events) =>
    JSON.stringify(events.map((event) => placeIn(event, stemOf))),
  );
  return namedBefore === namedAfter
    ? { cause: 'target', message: 'The name of a state now means another file.', paths }
    : { cause: 'policy', message: 'The policy of the state implies another transition.', paths };
}

export function causeOf({ kind }: Failure): Cause {
  const isTarget = ['missing-state', 'ambiguous-state', 'broken-state', 'bad-workflow'].includes(
    kind,
  );
  return isTarget ? 'target' : 'policy';
}

/** These do not refuse an answer: the agent has done something too often. */
const LIMITS: readonly Failure['kind'][] = [
  'too-many-visits',
  'too-many-forks',
  'too-many-agents',
  'too-deep',
  'unmet-check',
];

export const failureText = ({ kind }: Failure) => `a failure (${kind})`;

const deciderOf = ({ by }: RunEventOf<'transition-overridden'>) =>
  by === 'ensures' ? 'A check' : `An evaluator (${by})`;

export function failureIn({ events }: Decision): Failure | undefined {
  const last = events.at(-1);
  return last?.type === 'agent-reminded' || last?.type === 'agent-failed'
    ? last.failure
    : undefined;
}

/** The same place, entered with another value or session, may get another answer. */
function withOtherValues(was: Decision, now: Decision): Departure | undefined {
  const [before, after] = [was, now].map(({ events }) => JSON.stringify(events.map(valuesIn)));
  if (before === after) return undefined;
  return {
    cause: 'policy',
    message: `${shownDecision(was)} would begin with another value or session. The answer might differ.`,
  };
}

/** The parts of an event that lead an agent somewhere. */
function placeIn(
  event: DecisionEvent,
  nameOf: (state: string) => string = (state) => state,
): readonly unknown[] {
  const named = (state: string | undefined) => state && nameOf(state);
  switch (event.type) {
    case 'agent-forked':
      return [event.type, event.workflow, named(event.state)];
    case 'agent-moved':
      return [event.type, event.workflow, named(event.state), ...frameIn(event, named)];
    // Their states count when the wait is over: see `waitTarget`.
    case 'agent-asked':
      return [event.type];
    case 'join-started':
      return [event.type, event.of, event.rest];
    case 'agent-ended':
      return [event.type, event.result];
    case 'agent-failed':
    case 'agent-reminded':
      return [event.type];
    default:
      return unreachable(event);
  }
}

/** Where an agent continues after a wait. */
export function waitTarget(
  wait: RunEventOf<'agent-asked' | 'join-started'>,
  over: RunEventOf<'agent-answered' | 'question-timed-out' | 'join-reported'>,
): StateName {
  if (wait.type === 'join-started')
    return stateAfter({ join: wait }, over.type === 'join-reported' ? over.why : 'reached');
  return over.type === 'question-timed-out' ? (wait.timeoutNext ?? wait.next) : wait.next;
}

function frameIn(
  { stack }: RunEventOf<'agent-moved'>,
  named: (state: string) => unknown,
): readonly unknown[] {
  if (stack.kind !== 'push') return [stack.kind];
  return [stack.kind, stack.frame.workflow, named(stack.frame.state)];
}

function valuesIn(event: DecisionEvent): unknown {
  if (event.type === 'agent-forked') return [event.input, event.variables];
  return event.type === 'agent-moved' ? [event.input, event.session.kind, event.choices] : [];
}

function shownDecision({ events }: Decision): string {
  const forks = events.filter((event) => event.type === 'agent-forked').map(({ state }) => state);
  const last = events.at(-1);
  const next = last && last.type !== 'agent-forked' ? shownEvent(last) : undefined;
  const forked =
    forks.length > 0 ? `forks of ${[...new Set(forks)].join(', ')} (${forks.length})` : undefined;
  return [forked, next].filter((part) => part !== undefined).join(', then ') || 'nothing';
}

function shownEvent(event: Exclude<DecisionEvent, { type: 'agent-forked' }>): string {
  switch (event.type) {
    case 'agent-moved': {
      const { state, stack } = event;
      return stack.kind === 'push' ? `${state}, returning to ${stack.frame.state}` : state;
    }
    case 'agent-asked':
      return `a question, then ${event.next}`;
    case 'join-started':
      return `a join, then ${event.next}`;
    case 'agent-ended':
      return event.result === '' ? 'the end' : `the end: ${clip(event.result)}`;
    case 'agent-failed':
      return failureText(event.failure);
    case 'agent-reminded':
      return 'a reminder';
    default:
      return unreachable(event);
  }
}
