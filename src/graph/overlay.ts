/** The visits and transitions of a run, to be drawn over the graph of its workflow. */

import { RunHistory } from '../history/run-history.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { RunEvent, RunEventOf } from '../model/event.ts';
import { ignore } from '../model/event-kinds.ts';
import type { Agent, Run } from '../model/run.ts';
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

/** An action of a run: a transition, or the return from a callee. */
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

interface EdgeUse extends Pick<GraphEdge, 'from' | 'to' | 'role' | 'label'> {
  readonly count: number;
}

export function overlayOf(events: Iterable<RunEvent>): Overlay {
  const reader = new OverlayReader();
  let before = newRun;
  for (const event of events) {
    const after = apply(before, event);
    reader.follow(event, before, after);
    before = after;
  }
  return reader.overlay();
}

/** Counts the ways that the agents of a run take. Its history has the use of the states. */
export class OverlayReader {
  readonly history: RunHistory;
  readonly #edges = new Map<string, Changing<EdgeUse>>();
  readonly #returns = new Map<string, number>();
  readonly #callers = new Map<string, Callers | undefined>();
  /** The node at which each child ended. */
  readonly #ended = new Map<string, string>();
  // A run has few nodes and ways but many events. Building their names again each time would take most
  // of the time.
  readonly #stateNodes = new Map<string, string>();
  readonly #workflowNodes = new Map<string, string>();
  readonly #ways = new Map<string, Map<string, Changing<EdgeUse>[]>>();
  #root = '';

  constructor(history = new RunHistory()) {
    this.history = history;
  }

  follow(event: RunEvent, before: Run | undefined, after: Run): void {
    this.history.follow(event, after);
    this.#root = after.workflow;
    if (event.type === 'agent-forked')
      this.#countEdge(before?.agents.get(event.parent), 'worker', this.#nodeOf(event), 'fork');
    // The callers of an agent that goes back are at unknown states.
    else if (event.type === 'run-rewound')
      for (const { id } of event.agents) this.#callers.delete(id);
    // Undefined for an event of the run itself, or of a journal without its first events.
    const agent = 'agent' in event ? before?.agents.get(event.agent) : undefined;
    if (agent) this.#leave(agent, event, after.agents.get(agent.id));
  }

  /** Steps that are not over count up to a time, if one is given. */
  overlay(now?: number): Overlay {
    const nodes = new Map<string, Changing<NodeUse>>();
    const { states } = now === undefined ? this.history : this.history.until(now);
    for (const { workflow, state, visits, workedMs, costUsd, isPriced } of states) {
      const node = this.#nodeOf({ workflow, state });
      const use = nodes.get(node) ?? { visits: 0, timeMs: 0, costUsd: 0 };
      use.visits += visits;
      use.timeMs += workedMs;
      use.costUsd += costUsd;
      if (isPriced) use.isPriced = true;
      nodes.set(node, use);
    }
    const ends = [...this.#edges.values()].filter(({ to }) => to === END);
    const visits = ends.reduce((sum, { count }) => sum + count, 0);
    if (visits > 0) nodes.set(END, { visits, timeMs: 0, costUsd: 0 });
    return { nodes, edges: this.#edges, returns: this.#returns };
  }

  #leave(agent: Agent, event: RunEvent, next: Agent | undefined) {
    switch (event.type) {
      case 'step-started': {
        const judge = this.#nodeOf({ workflow: agent.workflow, state: event.state });
        if (event.task === 'judge') this.#countEdge(agent, 'judge', judge, 'judge');
        return;
      }
      case 'agent-moved':
        return this.#move(agent, event);
      case 'agent-answered':
      case 'question-timed-out':
        if (next)
          this.#countEdge(
            agent,
            event.type === 'agent-answered' ? 'answer' : 'timeout',
            this.#nodeOf(next),
            'ask',
          );
        return;
      case 'join-reported':
        return this.#join(agent, event);
      case 'agent-ended':
        this.#countEdge(agent, 'result', END, 'result');
        this.#ended.set(agent.id, this.#nodeOf(agent));
        return;
      default:
        return ignore<
          'answer-signed' | 'words-said' | 'words-heard' | 'handover-called' | 'prompt-filled'
        >(event);
    }
  }

  #move(agent: Agent, event: RunEventOf<'agent-moved'>): void {
    const node = this.#nodeOf(event);
    const callers = this.#callers.get(agent.id);
    if (event.stack.kind === 'pop') {
      this.#countEdge(agent, 'result', END, 'result');
      this.#countReturn({ resultOf: this.#nodeOf(agent), to: node });
      if (callers) {
        const { caller, callee } = callers;
        this.#countEdge(caller, 'return', node, 'return');
        this.#countReturn({ caller: this.#nodeOf(caller), callee, to: node });
      }
    } else {
      const role = roleOf(event);
      this.#countEdge(agent, role, node, role === 'next' ? 'next' : event.tag);
    }
    this.#callers.set(agent.id, callersAfter(agent, callers, event, node));
  }

  #join(agent: Agent, event: RunEventOf<'join-reported'>): void {
    const node = this.#nodeOf({ workflow: agent.workflow, state: event.state });
    this.#countEdge(agent, event.why === 'reached' ? 'join' : event.why, node, 'join');
    for (const { agent: child, status } of event.workers) {
      const from = this.#ended.get(child);
      if (from !== undefined && status === 'ended') this.#countReturn({ resultOf: from, to: node });
    }
  }

  #nodeOf({ workflow, state }: Where): string {
    const isOwn = workflow === this.#root;
    const nodes = isOwn ? this.#stateNodes : this.#workflowNodes;
    const key = isOwn ? state : workflow;
    const known = nodes.get(key);
    if (known !== undefined) return known;
    const node = usedNode(this.#root, { workflow, state });
    nodes.set(key, node);
    return node;
  }

  #countEdge(from: Where | undefined, role: EdgeRole, to: string, label: string): void {
    // Steps inside another workflow are not part of this picture.
    if (from?.workflow !== this.#root) return;
    const edge = this.#edgeOf(this.#nodeOf(from), role, to);
    edge.label = label;
    edge.count += 1;
  }

  #edgeOf(from: string, role: EdgeRole, to: string): Changing<EdgeUse> {
    const leaving = this.#ways.get(from) ?? new Map<string, Changing<EdgeUse>[]>();
    const between = leaving.get(to) ?? [];
    const known = between.find((edge) => edge.role === role);
    if (known) return known;
    const edge = { from, to, role, label: '', count: 0 };
    this.#ways.set(from, leaving.set(to, [...between, edge]));
    this.#edges.set(wayKey(edge), edge);
    return edge;
  }

  #countReturn(taken: Taken): void {
    const key = wayKey(taken);
    this.#returns.set(key, (this.#returns.get(key) ?? 0) + 1);
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

type Changing<T> = { -readonly [K in keyof T]: T[K] };

/** A linked list with the innermost caller first, so that a call does not copy it. */
interface Callers {
  readonly caller: Where;
  readonly callee: string;
  readonly outer: Callers | undefined;
}

function roleOf({ tag, stack }: RunEventOf<'agent-moved'>): EdgeRole {
  if (stack.kind === 'push') return 'call';
  return tag === 'fork' || tag === 'fork-workflow' ? 'next' : 'go';
}

function callersAfter(
  { workflow, state }: Where,
  callers: Callers | undefined,
  { stack }: RunEventOf<'agent-moved'>,
  callee: string,
): Callers | undefined {
  switch (stack.kind) {
    case 'keep':
      return callers;
    case 'push':
      return { caller: { workflow, state }, callee, outer: callers };
    case 'pop':
      return callers?.outer;
    case 'clear':
      return undefined;
  }
}

/** The key of an action in an overlay. */
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
