/** The visits and transitions of a run, to be drawn over the graph of its workflow. */

import { isEstimate } from '../model/estimate.ts';
import type { RunEvent, RunEventOf, StepEndEvent } from '../model/event.ts';
import { ignore } from '../model/event-kinds.ts';
import type { AskingStatus } from '../model/run.ts';
import type { StateName } from '../model/state-name.ts';
import {
  type EdgeRole,
  END,
  type Graph,
  type GraphEdge,
  stateNode,
  workflowNode,
} from './graph.ts';

export interface Overlay {
  /** By the id of a node. Other workflows are identified by their last name alone. */
  readonly nodes: ReadonlyMap<string, NodeUse>;
  readonly edges: ReadonlyMap<string, EdgeUse>;
  /** How often callees returned, by the keys of returns. */
  readonly returns: ReadonlyMap<string, number>;
}

/** An act of a run: a transition, or the return from a callee. */
export type Taken =
  | Pick<GraphEdge, 'from' | 'to' | 'role'>
  /** The caller continued at `to` after its callee. */
  | { readonly caller: string; readonly callee: string; readonly to: string }
  /** The result of a state led to `to`. */
  | { readonly resultOf: string; readonly to: string };

export interface NodeUse {
  readonly visits: number;
  readonly timeMs: number;
  readonly costUsd: number;
  /** Part of the cost was computed from a price table. */
  readonly isPriced?: true | undefined;
}

export interface EdgeUse extends Pick<GraphEdge, 'from' | 'to' | 'role' | 'label'> {
  readonly count: number;
}

export function overlayOf(events: Iterable<RunEvent>): Overlay {
  const reader = new OverlayReader();
  for (const event of events) reader.follow(event);
  return reader;
}

/** Follows the agents of a run through its events, and counts what they use. */
export class OverlayReader implements Overlay {
  readonly nodes = new Map<string, Changing<NodeUse>>();
  readonly edges = new Map<string, Changing<EdgeUse>>();
  readonly returns = new Map<string, number>();
  readonly #agents = new Map<string, Traced>();
  /** The node at which each worker ended. */
  readonly #ended = new Map<string, string>();
  // A run has few nodes and ways but many events. Building their names again each time would take most
  // of the time.
  readonly #stateNodes = new Map<string, string>();
  readonly #workflowNodes = new Map<string, string>();
  readonly #ways = new Map<string, Map<string, Changing<EdgeUse>[]>>();
  #root = '';
  #lastAt = 0;

  follow(event: RunEvent): void {
    if (event.type === 'run-resumed') this.#resume(event.at);
    this.#lastAt = event.at;
    // Undefined for an event of the run itself, or of a journal without its first events.
    const agent = 'agent' in event ? this.#agents.get(event.agent) : undefined;
    if (event.type === 'run-started') {
      this.#root = event.workflow;
      this.#enter('main', newAgent(event));
    } else if (event.type === 'agent-forked') {
      const parent = this.#agents.get(event.parent);
      this.#countEdge(parent, 'worker', this.#nodeOf(event.workflow, event.state), 'fork');
      this.#enter(event.agent, newAgent(event));
    } else if (event.type === 'run-rewound') {
      this.#rewind(event);
    } else if (agent) {
      this.#followAgent(agent, event);
    }
  }

  /** Agents continue at earlier states. Their callers are those of the frames, at unknown states. */
  #rewind({ agents, gone, ended }: RunEventOf<'run-rewound'>): void {
    for (const id of [...gone, ...ended.map((agent) => agent.id)]) this.#agents.delete(id);
    for (const { id, workflow, state, status } of agents)
      this.#agents.set(id, {
        ...newAgent({ workflow, state }),
        question: status.kind === 'asking' ? asked(status) : undefined,
      });
  }

  #followAgent(
    agent: Traced,
    event: Exclude<RunEvent, { type: 'run-started' | 'agent-forked' | 'run-rewound' }>,
  ) {
    switch (event.type) {
      case 'step-started':
        return this.#startStep(agent, event);
      case 'step-taken':
        if (agent.started) agent.started = { ...agent.started, at: event.at, isQueued: false };
        return;
      case 'step-ended':
      case 'step-failed':
      case 'step-interrupted':
        return this.#endStep(agent, event);
      case 'agent-moved':
        return this.#leave(agent, event);
      case 'permission-asked':
      case 'permission-answered':
      case 'permission-withdrawn':
        return this.#rest(agent, event);
      case 'agent-asked':
        agent.question = asked(event);
        return;
      case 'agent-answered':
      case 'question-timed-out':
        return this.#afterQuestion(agent, event);
      case 'join-reported':
        return this.#join(agent, event);
      case 'agent-stopped':
        this.#agents.delete(event.agent);
        return;
      case 'agent-ended':
        this.#countEdge(agent, 'result', END, 'result');
        this.#ended.set(event.agent, this.#nodeOf(agent.workflow, agent.state));
        this.#agents.delete(event.agent);
        return;
      default:
        return ignore(event);
    }
  }

  /** No process worked on the run since its last event, so this time does not count. */
  #resume(at: number): void {
    for (const { started } of this.#agents.values()) {
      if (!started || started.isQueued) continue;
      this.#useOf(started.node).timeMs += Math.max(0, this.#lastAt - started.at);
      started.at = at;
    }
  }

  #startStep(agent: Traced, event: RunEventOf<'step-started'>): void {
    const node = this.#nodeOf(agent.workflow, event.state);
    const isQueued = event.queued === true;
    agent.started = { at: event.at, isQueued, node, open: undefined, restedMs: 0, restsSince: 0 };
    if (event.task !== 'judge') return;
    this.#useOf(node).visits += 1;
    this.#countEdge(agent, 'judge', node, 'judge');
  }

  #endStep(agent: Traced, event: StepEndEvent): void {
    const { started } = agent;
    if (started) {
      const restingMs = started.open?.size ? event.at - started.restsSince : 0;
      const use = this.#useOf(started.node);
      if (!started.isQueued) use.timeMs += event.at - started.at - started.restedMs - restingMs;
      use.costUsd += event.cost.usd;
      if (isEstimate(event.cost)) use.isPriced = true;
    }
    agent.started = undefined;
  }

  /** A step does not work while it waits for a permission. */
  #rest({ started }: Traced, { type, at, request }: PermissionEvent): void {
    if (!started) return;
    started.open ??= new Set();
    const { open } = started;
    const wasResting = open.size > 0;
    if (type === 'permission-asked') open.add(request);
    else open.delete(request);
    if (!wasResting && open.size > 0) started.restsSince = at;
    if (wasResting && open.size === 0) started.restedMs += at - started.restsSince;
  }

  #leave(agent: Traced, event: RunEventOf<'agent-moved'>): void {
    const node = this.#nodeOf(event.workflow, event.state);
    if (event.stack.kind === 'pop') {
      this.#countEdge(agent, 'result', END, 'result');
      this.#countReturn({ resultOf: this.#nodeOf(agent.workflow, agent.state), to: node });
      if (agent.callers) {
        const { caller, callee } = agent.callers;
        this.#countEdge(caller, 'return', node, 'return');
        const from = this.#nodeOf(caller.workflow, caller.state);
        this.#countReturn({ caller: from, callee, to: node });
      }
    } else {
      const role = roleOf(event);
      this.#countEdge(agent, role, node, role === 'next' ? 'next' : event.tag);
    }
    agent.callers = callersAfter(agent, event, node);
    agent.question = undefined;
    agent.started = undefined;
    this.#move(agent, event.workflow, event.state);
  }

  #afterQuestion(agent: Traced, event: RunEventOf<'agent-answered' | 'question-timed-out'>): void {
    const isLate = event.type === 'question-timed-out';
    const state = (isLate ? agent.question?.timeoutNext : undefined) ?? agent.question?.next;
    if (state === undefined) return;
    const to = this.#nodeOf(agent.workflow, state);
    this.#countEdge(agent, isLate ? 'timeout' : 'answer', to, 'ask');
    agent.question = undefined;
    this.#move(agent, agent.workflow, state);
  }

  #join(agent: Traced, event: RunEventOf<'join-reported'>): void {
    const node = this.#nodeOf(agent.workflow, event.state);
    this.#countEdge(agent, event.why === 'reached' ? 'join' : event.why, node, 'join');
    for (const { agent: worker, status } of event.workers) {
      const from = this.#ended.get(worker);
      if (from !== undefined && status === 'ended') this.#countReturn({ resultOf: from, to: node });
    }
    this.#move(agent, agent.workflow, event.state);
  }

  #enter(id: string, agent: Traced): void {
    this.#agents.set(id, agent);
    this.#move(agent, agent.workflow, agent.state);
  }

  #move(agent: Traced, workflow: string, state: StateName): void {
    agent.workflow = workflow;
    agent.state = state;
    this.#useOf(this.#nodeOf(workflow, state)).visits += 1;
  }

  #nodeOf(workflow: string, state: StateName): string {
    const isOwn = workflow === this.#root;
    const nodes = isOwn ? this.#stateNodes : this.#workflowNodes;
    const key = isOwn ? state : workflow;
    const known = nodes.get(key);
    if (known !== undefined) return known;
    const node = usedNode(this.#root, { workflow, state });
    nodes.set(key, node);
    return node;
  }

  #useOf(node: string): Changing<NodeUse> {
    const known = this.nodes.get(node);
    if (known) return known;
    const use: Changing<NodeUse> = { visits: 0, timeMs: 0, costUsd: 0 };
    this.nodes.set(node, use);
    return use;
  }

  #countEdge(from: Where | undefined, role: EdgeRole, to: string, label: string): void {
    // Steps inside another workflow are not part of this picture.
    if (from?.workflow !== this.#root) return;
    const edge = this.#edgeOf(this.#nodeOf(from.workflow, from.state), role, to);
    edge.label = label;
    edge.count += 1;
    if (to === END) this.#useOf(END).visits += 1;
  }

  #edgeOf(from: string, role: EdgeRole, to: string): Changing<EdgeUse> {
    const leaving = this.#ways.get(from) ?? new Map<string, Changing<EdgeUse>[]>();
    const between = leaving.get(to) ?? [];
    const known = between.find((edge) => edge.role === role);
    if (known) return known;
    const edge = { from, to, role, label: '', count: 0 };
    this.#ways.set(from, leaving.set(to, [...between, edge]));
    this.edges.set(wayKey(edge), edge);
    return edge;
  }

  #countReturn(taken: Taken): void {
    const key = wayKey(taken);
    this.returns.set(key, (this.returns.get(key) ?? 0) + 1);
  }
}

/**
 * The overlay in terms of this graph. The events do not say whether the parent continued by the next of
 * a fork or by a goto beside it. If the text has only the goto, it was the goto.
 */
export function fittedTo(graph: Graph, overlay: Overlay): Overlay {
  const known = new Set(graph.edges.map(wayKey));
  const edges = new Map<string, EdgeUse>();
  for (const edge of overlay.edges.values()) {
    const asGoto = { ...edge, role: 'go', label: 'goto' } as const;
    const isGoto = edge.role === 'next' && !known.has(wayKey(edge)) && known.has(wayKey(asGoto));
    const meant = isGoto ? asGoto : edge;
    const { count = 0 } = edges.get(wayKey(meant)) ?? {};
    edges.set(wayKey(meant), { ...meant, count: count + edge.count });
  }
  return { ...overlay, edges };
}

/** The graph, and the edges that occur only in the run: their targets were chosen at run time. */
export function withTaken(graph: Graph, overlay: Overlay): Graph {
  const known = new Set(graph.edges.map(wayKey));
  const ids = new Set(graph.nodes.map(({ id }) => id));
  const shown = [...overlay.edges.values()].filter(
    (edge) => !known.has(wayKey(edge)) && ids.has(edge.from) && ids.has(edge.to),
  );
  const edges = shown.map(
    ({ from, to, role, label }): GraphEdge => ({
      from,
      to,
      role,
      label,
      certainty: 'possible',
      origin: 'run',
      at: { line: 1, column: 1 },
    }),
  );
  return { ...graph, edges: [...graph.edges, ...edges] };
}

export function timesTaken(overlay: Overlay, taken: Taken): number {
  const key = wayKey(taken);
  return overlay.edges.get(key)?.count ?? overlay.returns.get(key) ?? 0;
}

export function useOf(overlay: Overlay, node: string): NodeUse | undefined {
  return overlay.nodes.get(shortId(node));
}

/** The id of a node by which an overlay knows it. */
export function usedNode(root: string, { workflow, state }: Where): string {
  return workflow === root ? stateNode(state) : workflowNode(lastName(workflow));
}

interface Where {
  readonly workflow: string;
  readonly state: StateName;
}

interface Traced extends Changing<Where> {
  callers: Callers | undefined;
  question: Pick<AskingStatus, 'next' | 'timeoutNext'> | undefined;
  started: Started | undefined;
}

type Changing<T> = { -readonly [K in keyof T]: T[K] };

interface Started {
  at: number;
  /** It waits for a worker. */
  readonly isQueued: boolean;
  readonly node: string;
  /** The permission requests that wait for a person; absent if there were none. */
  open: Set<string> | undefined;
  restedMs: number;
  /** The time since which it has been waiting, if it is. */
  restsSince: number;
}

type PermissionEvent = RunEventOf<
  'permission-asked' | 'permission-answered' | 'permission-withdrawn'
>;

/** A linked list with the innermost caller first, so that a call does not copy it. */
interface Callers {
  readonly caller: Where;
  readonly callee: string;
  readonly outer: Callers | undefined;
}

function asked({ next, timeoutNext }: Pick<RunEventOf<'agent-asked'>, 'next' | 'timeoutNext'>) {
  return { next, timeoutNext };
}

function newAgent({ workflow, state }: Where): Traced {
  return { workflow, state, callers: undefined, question: undefined, started: undefined };
}

function roleOf({ tag, stack }: RunEventOf<'agent-moved'>): EdgeRole {
  if (stack.kind === 'push') return 'call';
  return tag === 'fork' || tag === 'fork-workflow' ? 'next' : 'go';
}

function callersAfter(
  agent: Traced,
  { stack }: RunEventOf<'agent-moved'>,
  callee: string,
): Callers | undefined {
  switch (stack.kind) {
    case 'keep':
      return agent.callers;
    case 'push':
      return {
        caller: { workflow: agent.workflow, state: agent.state },
        callee,
        outer: agent.callers,
      };
    case 'pop':
      return agent.callers?.outer;
    case 'clear':
      return undefined;
  }
}

/** The key of an act in an overlay. */
export function wayKey(taken: Taken): string {
  const to = shortId(taken.to);
  if ('caller' in taken) return JSON.stringify([taken.caller, 'after', shortId(taken.callee), to]);
  if ('resultOf' in taken) return JSON.stringify([shortId(taken.resultOf), 'leads', to]);
  return JSON.stringify([taken.from, taken.role, to]);
}

/** A tag names a workflow by a path, a run by an absolute path. Both end in the same name. */
export function shortId(node: string): string {
  const path = /^workflow:(.*)$/s.exec(node)?.[1];
  return path === undefined ? node : workflowNode(lastName(path));
}

function lastName(path: string): string {
  const name = path.split(/[/\\]/).filter(Boolean).at(-1) ?? path;
  return name.replace(/\.(?:zip|ya?ml|md)$/, '');
}
