/** Turns the events of a run into the spans of its agents. */

import { isEstimate } from '../model/estimate.ts';
import type { RunEvent, StepEndEvent } from '../model/event.ts';
import { ignore } from '../model/event-kinds.ts';
import { limitOn } from '../model/limits.ts';
import type { Agent, Run } from '../model/run.ts';
import { asksPermission } from '../model/tally.ts';
import { unreachable } from '../model/unreachable.ts';
import type { Span } from './span.ts';

export class SpanReader {
  readonly #open = new Map<string, OpenSpan>();
  #lastAt = 0;

  /** The spans that the event ends. A reader that begins in the middle of a run needs `before`. */
  follow(event: RunEvent, after: Run, before?: Run): readonly Span[] {
    const ended: Span[] = [];
    if (this.#lastAt === 0 && before) this.#begin(before);
    if (event.type === 'run-resumed') this.#resume(event.at, ended);
    if (event.type === 'usage-limit-lifted') {
      for (const [id, { kind }] of this.#open)
        if (kind === 'limit' && limitEnded(after, id)) this.#turnTo(id, undefined, event, ended);
    } else if (event.type === 'run-rewound') {
      const { agents, ended: over, gone, at } = event;
      for (const id of [...[...agents, ...over].map((one) => one.id), ...gone])
        this.#turnTo(id, beginning(after.agents.get(id), after, at), event, ended);
    } else if ('agent' in event) {
      const { agent: id, at } = event;
      this.#turnTo(id, beginning(after.agents.get(id), after, at), event, ended);
    }
    this.#lastAt = event.at;
    return ended;
  }

  /** The spans that are not over, up to a time. */
  openUntil(now: number): readonly Span[] {
    return [...this.#open].map(([agent, open]) => ({
      agent,
      ...open,
      to: Math.max(open.from, now),
      costUsd: 0,
    }));
  }

  #begin(run: Run): void {
    this.#lastAt = run.updatedAt;
    for (const [id, agent] of run.agents) {
      const from = agent.status.kind === 'running' ? agent.status.startedAt : run.updatedAt;
      const open = beginning(agent, run, from);
      if (open) this.#open.set(id, open);
    }
  }

  #turnTo(id: string, next: OpenSpan | undefined, event: RunEvent, ended: Span[]): void {
    const open = this.#open.get(id);
    if (open && next && isSame(open, next)) return;
    // Another executor may have taken the agent immediately.
    const isNothing = open?.kind === 'limit' && open.from === event.at;
    if (open && !isNothing) ended.push(endedSpan(id, open, event));
    if (next) this.#open.set(id, next);
    else this.#open.delete(id);
  }

  /** No process worked on the run since its last event. A step may have run, but this is unknown. */
  #resume(at: number, ended: Span[]): void {
    for (const [id, open] of this.#open) {
      if (open.kind !== 'work') continue;
      ended.push({ agent: id, ...open, to: Math.max(open.from, this.#lastAt), costUsd: 0 });
      this.#open.set(id, { ...open, from: at });
    }
  }
}

function limitEnded({ agents, limits }: Run, id: string): boolean {
  const agent = agents.get(id);
  return !agent || limitOn(limits, agent) === undefined;
}

type OpenSpan = Omit<Span, 'agent' | 'to' | 'end' | 'costUsd' | 'isPriced'>;

function beginning(agent: Agent | undefined, run: Run, from: number): OpenSpan | undefined {
  if (!agent) return undefined;
  const { status, workflow, state } = agent;
  // Named one by one: every step has such a span, and a spread takes ten times as long.
  if (status.kind === 'running') {
    if (status.isQueued) return undefined;
    return {
      kind: asksPermission(status) ? 'ask' : 'work',
      workflow,
      state: status.state,
      from,
      step: status.step,
      isPrompt: status.session !== undefined,
    };
  }
  const at = { workflow, state, from };
  switch (status.kind) {
    case 'waiting':
      return { ...at, kind: 'retry' };
    case 'asking':
      return { ...at, kind: 'ask' };
    case 'joining':
      return { ...at, kind: 'join', children: status.join.workers };
    case 'ready':
      return limitOn(run.limits, agent) === undefined ? undefined : { ...at, kind: 'limit' };
    case 'deciding':
    case 'failed':
      return undefined;
    default:
      return unreachable(status);
  }
}

const isSame = (a: OpenSpan, b: OpenSpan) =>
  a.kind === b.kind && a.step === b.step && a.state === b.state && a.workflow === b.workflow;

function endedSpan(agent: string, open: OpenSpan, event: RunEvent): Span {
  const { kind, workflow, state, from, step, isPrompt, children } = open;
  const { end, costUsd, isPriced } = endOf(event);
  const to = Math.max(from, event.at);
  return {
    agent,
    kind,
    workflow,
    state,
    from,
    to,
    step,
    isPrompt,
    children,
    end,
    costUsd,
    isPriced,
  };
}

function endOf(event: RunEvent): Pick<Span, 'end' | 'costUsd' | 'isPriced'> {
  switch (event.type) {
    case 'step-ended':
      return costOf(event);
    case 'step-failed':
      return { ...costOf(event), end: 'failed' };
    case 'step-interrupted':
      return { ...costOf(event), end: 'interrupted' };
    default:
      ignore<'answer-signed' | 'words-said' | 'words-heard' | 'handover-called' | 'prompt-filled'>(
        event,
      );
      return { costUsd: 0 };
  }
}

const costOf = ({ cost }: StepEndEvent): Pick<Span, 'costUsd' | 'isPriced'> => ({
  costUsd: cost.usd,
  isPriced: isEstimate(cost) || undefined,
});
