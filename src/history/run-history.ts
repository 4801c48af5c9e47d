/**
 * The use of the agents and states of a run: visits, steps, time and cost. Time is the time of spans of
 * work, so waits for people, limits and child agents do not count. The size depends on the number of agents
 * and states, not on the number of events.
 */
import { AbandonedSteps } from '../model/abandoned-steps.ts';
import type { RunEvent, RunEventOf } from '../model/event.ts';
import { ignore } from '../model/event-kinds.ts';
import { OpenRewinds } from '../model/open-rewinds.ts';
import type { Run } from '../model/run.ts';
import type { StateName } from '../model/state-name.ts';
import type { Span } from './span.ts';
import { SpanReader } from './spans.ts';

export interface AgentUse {
  readonly id: string;
  readonly parent: string | undefined;
  readonly bornAt: number;
  readonly variables: Readonly<Record<string, string>>;
  readonly workedMs: number;
}

export interface StateUse {
  readonly workflow: string;
  readonly state: StateName;
  /** How often agents entered it, or judges were asked. */
  readonly visits: number;
  readonly steps: number;
  /** Steps that failed. */
  readonly failures: number;
  readonly workedMs: number;
  readonly costUsd: number;
  /** A part of the cost was computed with a table of prices. */
  readonly isPriced: boolean;
}

export interface HistoryUse {
  /** In the order of their creation. */
  readonly agents: ReadonlyMap<string, AgentUse>;
  /** In the order of their first visits. */
  readonly states: readonly StateUse[];
  /** The spans that are not over. */
  readonly open: readonly Span[];
}

export class RunHistory {
  readonly #spans = new SpanReader();
  readonly #agents = new Map<string, Changing<AgentUse>>();
  readonly #states: Changing<StateUse>[] = [];
  /** The same, by their workflow and name. */
  readonly #byName = new Map<string, Map<StateName, Changing<StateUse>>>();
  readonly #abandoned = new AbandonedSteps();
  readonly #rewinds = new OpenRewinds<RunEventOf<'run-rewound'>>();
  readonly #each: (span: Span) => void;

  /** `each` gets every span. */
  constructor(each: (span: Span) => void = () => {}) {
    this.#each = each;
  }

  follow(event: RunEvent, after: Run): void {
    this.#abandoned.follow(event, after.seq);
    if (event.type === 'run-rewound')
      this.#rewinds.follow({ ...event, seq: after.seq }, () => event);
    if (event.type === 'run-started') this.#begin(event);
    if (event.type === 'agent-forked')
      this.#born(event.agent, event.parent, event.at, event.variables);
    const place = visited(event, after);
    if (place) this.#useOf(place.workflow, place.state).visits += 1;
    if (event.type === 'step-started') {
      const { workflow = '' } = after.agents.get(event.agent) ?? {};
      const use = this.#useOf(workflow, event.state);
      use.steps += 1;
      if (event.task === 'judge') use.visits += 1;
    }
    for (const span of this.#spans.follow(event, after)) this.#count(span);
  }

  /** The use up to a time, with the spans that are not over. */
  until(now: number): HistoryUse {
    const open = this.#spans.openUntil(now);
    const agents = new Map([...this.#agents].map(([id, use]) => [id, { ...use }]));
    const states = this.#states.map((use) => ({ ...use }));
    for (const { kind, agent, workflow, state, from, to } of open) {
      if (kind !== 'work') continue;
      const [who, where] = [agents.get(agent), this.#useOf(workflow, state)];
      if (who) who.workedMs += to - from;
      const use = states[this.#states.indexOf(where)];
      if (use) use.workedMs += to - from;
    }
    return { agents, states, open };
  }

  /** Whether a rewind has abandoned a step, as far as the events were followed. */
  isAbandoned({ agent, step }: Pick<Span, 'agent' | 'step'>): boolean {
    return step !== undefined && this.#abandoned.has(agent, step);
  }

  /** The newest rewind that can be undone. */
  get rewind(): RunEventOf<'run-rewound'> | undefined {
    return this.#rewinds.newest;
  }

  /** In the order of their creation. */
  get agents(): HistoryUse['agents'] {
    return this.#agents;
  }

  /** In the order of their first visits. */
  get states(): HistoryUse['states'] {
    return this.#states;
  }

  #begin({ at, beginning }: RunEventOf<'run-started'>): void {
    if (!beginning) this.#born(FIRST_AGENT, undefined, at, {});
    else
      for (const { id, parent, variables } of [...beginning.ended, ...beginning.agents])
        this.#born(id, parent, at, variables);
  }

  #born(
    id: string,
    parent: string | undefined,
    bornAt: number,
    variables: AgentUse['variables'],
  ): void {
    if (!this.#agents.has(id)) this.#agents.set(id, { id, parent, bornAt, variables, workedMs: 0 });
  }

  #count(span: Span): void {
    this.#each(span);
    // A step also costs if it ended while it waited for a permission.
    if (span.step === undefined) return;
    const workedMs = span.kind === 'work' ? span.to - span.from : 0;
    const use = this.#useOf(span.workflow, span.state);
    use.workedMs += workedMs;
    use.costUsd += span.costUsd;
    use.isPriced ||= span.isPriced === true;
    if (span.end === 'failed') use.failures += 1;
    const agent = this.#agents.get(span.agent);
    if (agent) agent.workedMs += workedMs;
  }

  #useOf(workflow: string, state: StateName): Changing<StateUse> {
    const ofWorkflow = this.#byName.get(workflow) ?? new Map<StateName, Changing<StateUse>>();
    const known = ofWorkflow.get(state);
    if (known) return known;
    const counts = { visits: 0, steps: 0, failures: 0, workedMs: 0, costUsd: 0 };
    const use = { workflow, state, ...counts, isPriced: false };
    this.#byName.set(workflow, ofWorkflow.set(state, use));
    this.#states.push(use);
    return use;
  }
}

type Changing<T> = { -readonly [K in keyof T]: T[K] };

export const FIRST_AGENT = 'main';

type Place = Pick<StateUse, 'workflow' | 'state'>;

/** The state that an agent enters with the event. */
function visited(event: RunEvent, after: Run): Place | undefined {
  switch (event.type) {
    case 'run-started':
      return event.origin ? after.agents.get(event.origin.agent) : event;
    case 'agent-forked':
    case 'agent-moved':
      return event;
    case 'agent-answered':
    case 'question-timed-out':
    case 'join-reported':
      return after.agents.get(event.agent);
    default:
      return ignore<
        'answer-signed' | 'words-said' | 'words-heard' | 'handover-called' | 'prompt-filled'
      >(event);
  }
}
