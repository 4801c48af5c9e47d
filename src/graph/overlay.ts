/** The visits and transitions of a run, to be drawn over the graph of its workflow. */
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
  readonly nodes = new Map<string, NodeUse>();
  readonly edges = new Map<string, EdgeUse>();
  readonly returns = new Map<string, number>();
  readonly #agents = new Map<string, Traced>();
  /** The node at which each worker ended. */
  readonly #ended = new Map<string, string>();
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
      this.#countEdge(parent, 'worker', this.#nodeOf(event), 'fork');
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
        this.#agents.set(event.agent, { ...agent, question: asked(event) });
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
        this.#ended.set(event.agent, this.#nodeOf(agent));
        this.#agents.delete(event.agent);
        return;
      default:
        return ignore(event);
    }
  }

  /** No process worked on the run since its last event, so this time does not count. */
  #resume(at: number): void {
    for (const [id, agent] of this.#agents) {
      const { started } = agent;
      if (!started) continue;
      this.#use(started.node, { timeMs: Math.max(0, this.#lastAt - started.at) });
      this.#agents.set(id, { ...agent, started: { ...started, at } });
    }
  }

  #startStep(agent: Traced, event: RunEventOf<'step-started'>): void {
    const node = this.#nodeOf({ workflow: agent.workflow, state: event.state });
    const started = { at: event.at, node, open: new Set<string>(), restedMs: 0, restsSince: 0 };
    this.#agents.set(event.agent, { ...agent, started });
    if (event.task !== 'judge') return;
    this.#use(node, { visits: 1 });
    this.#countEdge(agent, 'judge', node, 'judge');
  }

  #endStep(agent: Traced, event: StepEndEvent): void {
    const { started } = agent;
    if (started) {
      const restingMs = started.open.size > 0 ? event.at - started.restsSince : 0;
      const timeMs = event.at - started.at - started.restedMs - restingMs;
      this.#use(started.node, { timeMs, costUsd: event.cost.usd });
    }
    this.#agents.set(event.agent, { ...agent, started: undefined });
  }

  /** A step does not work while it waits for a permission. */
  #rest({ started }: Traced, { type, at, request }: PermissionEvent): void {
    if (!started) return;
    const { open } = started;
    const wasResting = open.size > 0;
    if (type === 'permission-asked') open.add(request);
    else open.delete(request);
    if (!wasResting && open.size > 0) started.restsSince = at;
    if (wasResting && open.size === 0) started.restedMs += at - started.restsSince;
  }

  #leave(agent: Traced, event: RunEventOf<'agent-moved'>): void {
    const to: Where = { workflow: event.workflow, state: event.state };
    const node = this.#nodeOf(to);
    if (event.stack.kind === 'pop') {
      this.#countEdge(agent, 'result', END, 'result');
      this.#countReturn({ resultOf: this.#nodeOf(agent), to: node });
      if (agent.callers) {
        const { caller, callee } = agent.callers;
        this.#countEdge(caller, 'return', node, 'return');
        this.#countReturn({ caller: this.#nodeOf(caller), callee, to: node });
      }
    } else {
      const role = roleOf(event);
      this.#countEdge(agent, role, node, role === 'next' ? 'next' : event.tag);
    }
    this.#enter(event.agent, {
      ...to,
      callers: callersAfter(agent, event, node),
      question: undefined,
      started: undefined,
    });
  }

  #afterQuestion(agent: Traced, event: RunEventOf<'agent-answered' | 'question-timed-out'>): void {
    const isLate = event.type === 'question-timed-out';
    const state = (isLate ? agent.question?.timeoutNext : undefined) ?? agent.question?.next;
    if (state === undefined) return;
    const to = this.#nodeOf({ workflow: agent.workflow, state });
    this.#countEdge(agent, isLate ? 'timeout' : 'answer', to, 'ask');
    this.#enter(event.agent, { ...agent, state, question: undefined });
  }

  #join(agent: Traced, event: RunEventOf<'join-reported'>): void {
    const to = { workflow: agent.workflow, state: event.state };
    const node = this.#nodeOf(to);
    this.#countEdge(agent, event.why === 'reached' ? 'join' : event.why, node, 'join');
    for (const { agent: worker, status } of event.workers) {
      const from = this.#ended.get(worker);
      if (from !== undefined && status === 'ended') this.#countReturn({ resultOf: from, to: node });
    }
    this.#enter(event.agent, { ...agent, ...to });
  }

  #enter(id: string, agent: Traced): void {
    this.#agents.set(id, agent);
    this.#use(this.#nodeOf(agent), { visits: 1 });
  }

  #nodeOf(where: Where): string {
    return usedNode(this.#root, where);
  }

  #use(node: string, more: Partial<NodeUse>): void {
    const { visits = 0, timeMs = 0, costUsd = 0 } = this.nodes.get(node) ?? {};
    this.nodes.set(node, {
      visits: visits + (more.visits ?? 0),
      timeMs: timeMs + (more.timeMs ?? 0),
      costUsd: costUsd + (more.costUsd ?? 0),
    });
  }

  #countEdge(from: Where | undefined, role: EdgeRole, to: string, label: string): void {
    // Steps inside another workflow are not part of this picture.
    if (from?.workflow !== this.#root) return;
    const edge = { from: stateNode(from.state), to, role, label };
    const key = wayKey(edge);
    this.edges.set(key, { ...edge, count: (this.edges.get(key)?.count ?? 0) + 1 });
    if (to === END) this.#use(END, { visits: 1 });
  }

  #countReturn(taken: Taken): void {
    const key = wayKey(taken);
    this.returns.set(key, (this.returns.get(key) ?? 0) + 1);
  }
}

/**
 * The overlay in terms of this graph. The events do not tell whether the next of a fork or a goto
 * beside it led the parent on. If the text has only the goto, it was the goto.
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

interface Traced extends Where {
  readonly callers: Callers | undefined;
  readonly question: Pick<AskingStatus, 'next' | 'timeoutNext'> | undefined;
  readonly started: Started | undefined;
}

interface Started {
  readonly at: number;
  readonly node: string;
  /** The permission requests that wait for a person. */
  readonly open: Set<string>;
  restedMs: number;
  /** Since when it waits, if it does. */
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
