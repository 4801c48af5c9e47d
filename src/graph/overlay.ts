/** The visits and transitions of a run, to be drawn over the graph of its workflow. */
import type { RunEvent, RunEventOf } from '../model/event.ts';
import { ignore } from '../model/event-kinds.ts';
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

export function overlayOf(events: readonly RunEvent[]): Overlay {
  const nodes = new Map<string, NodeUse>();
  const edges = new Map<string, EdgeUse>();
  const returns = new Map<string, number>();
  const agents = new Map<string, Traced>();
  /** The node at which each worker ended. */
  const ended = new Map<string, string>();
  let root = '';

  const nodeOf = ({ workflow, state }: Where) =>
    workflow === root ? stateNode(state) : workflowNode(lastName(workflow));
  const use = (node: string, more: Partial<NodeUse>) => {
    const { visits = 0, timeMs = 0, costUsd = 0 } = nodes.get(node) ?? {};
    nodes.set(node, {
      visits: visits + (more.visits ?? 0),
      timeMs: timeMs + (more.timeMs ?? 0),
      costUsd: costUsd + (more.costUsd ?? 0),
    });
  };
  const countEdge = (from: Where | undefined, role: EdgeRole, to: string, label: string) => {
    // Steps inside another workflow are not part of this picture.
    if (from?.workflow !== root) return;
    const edge = { from: stateNode(from.state), to, role, label };
    const key = keyOf(edge);
    edges.set(key, { ...edge, count: (edges.get(key)?.count ?? 0) + 1 });
    if (to === END) use(END, { visits: 1 });
  };
  const countReturn = (taken: Taken) => {
    const key = keyOf(taken);
    returns.set(key, (returns.get(key) ?? 0) + 1);
  };
  const enter = (id: string, agent: Traced) => {
    agents.set(id, agent);
    use(nodeOf(agent), { visits: 1 });
  };
  const leave = (agent: Traced, event: RunEventOf<'agent-moved'>) => {
    const to: Where = { workflow: event.workflow, state: event.state };
    if (event.stack.kind === 'pop') {
      countEdge(agent, 'result', END, 'result');
      countReturn({ resultOf: nodeOf(agent), to: nodeOf(to) });
      if (agent.callers) {
        const { caller, callee } = agent.callers;
        countEdge(caller, 'return', nodeOf(to), 'return');
        countReturn({ caller: nodeOf(caller), callee, to: nodeOf(to) });
      }
    } else {
      const role = roleOf(event);
      countEdge(agent, role, nodeOf(to), role === 'next' ? 'next' : event.tag);
    }
    enter(event.agent, {
      ...to,
      callers: callersAfter(agent, event, nodeOf(to)),
      question: undefined,
      started: undefined,
    });
  };

  for (const event of events) {
    // Undefined for an event of the run itself, or of a journal without its first events.
    const agent = 'agent' in event ? agents.get(event.agent) : undefined;
    switch (event.type) {
      case 'run-started':
        root = event.workflow;
        enter('main', newAgent(event));
        break;
      case 'agent-forked': {
        const to = { workflow: event.workflow, state: event.state };
        countEdge(agents.get(event.parent), 'worker', nodeOf(to), 'fork');
        enter(event.agent, newAgent(event));
        break;
      }
      case 'step-started': {
        if (!agent) break;
        const node = nodeOf({ workflow: agent.workflow, state: event.state });
        agents.set(event.agent, { ...agent, started: { at: event.at, node } });
        if (event.task !== 'judge') break;
        use(node, { visits: 1 });
        countEdge(agent, 'judge', node, 'judge');
        break;
      }
      case 'step-ended':
      case 'step-failed':
      case 'step-interrupted': {
        if (!agent) break;
        const { started } = agent;
        if (started) use(started.node, { timeMs: event.at - started.at, costUsd: event.cost.usd });
        agents.set(event.agent, { ...agent, started: undefined });
        break;
      }
      case 'agent-moved':
        if (agent) leave(agent, event);
        break;
      case 'agent-asked':
        if (agent) agents.set(event.agent, { ...agent, question: event });
        break;
      case 'agent-answered':
      case 'question-timed-out': {
        const late = event.type === 'question-timed-out';
        const state = (late ? agent?.question?.timeoutNext : undefined) ?? agent?.question?.next;
        if (!agent || state === undefined) break;
        const to = { workflow: agent.workflow, state };
        countEdge(agent, late ? 'timeout' : 'answer', nodeOf(to), 'ask');
        enter(event.agent, { ...agent, state, question: undefined });
        break;
      }
      case 'join-reported': {
        if (!agent) break;
        const to = { workflow: agent.workflow, state: event.state };
        countEdge(agent, event.why === 'reached' ? 'join' : event.why, nodeOf(to), 'join');
        for (const { agent: worker, status } of event.workers) {
          const node = ended.get(worker);
          if (node !== undefined && status === 'ended') {
            countReturn({ resultOf: node, to: nodeOf(to) });
          }
        }
        enter(event.agent, { ...agent, ...to });
        break;
      }
      case 'agent-stopped':
        agents.delete(event.agent);
        break;
      case 'agent-ended':
        if (!agent) break;
        countEdge(agent, 'result', END, 'result');
        ended.set(event.agent, nodeOf(agent));
        agents.delete(event.agent);
        break;
      default:
        ignore<
          | 'state-entered'
          | 'check-called'
          | 'worktree-settled'
          | 'join-started'
          | 'join-closed'
          | 'agent-stop-requested'
        >(event);
    }
  }
  return { nodes, edges, returns };
}

/**
 * The overlay in terms of this graph. The events do not tell whether the next of a fork or a goto
 * beside it led the parent on. If the text has only the goto, it was the goto.
 */
export function fittedTo(graph: Graph, overlay: Overlay): Overlay {
  const known = new Set(graph.edges.map(keyOf));
  const edges = new Map<string, EdgeUse>();
  for (const edge of overlay.edges.values()) {
    const asGoto = { ...edge, role: 'go', label: 'goto' } as const;
    const isGoto = edge.role === 'next' && !known.has(keyOf(edge)) && known.has(keyOf(asGoto));
    const meant = isGoto ? asGoto : edge;
    const { count = 0 } = edges.get(keyOf(meant)) ?? {};
    edges.set(keyOf(meant), { ...meant, count: count + edge.count });
  }
  return { ...overlay, edges };
}

/** The graph, and the edges that occur only in the run: their targets were chosen at run time. */
export function withTaken(graph: Graph, overlay: Overlay): Graph {
  const known = new Set(graph.edges.map(keyOf));
  const ids = new Set(graph.nodes.map(({ id }) => id));
  const shown = [...overlay.edges.values()].filter(
    (edge) => !known.has(keyOf(edge)) && ids.has(edge.from) && ids.has(edge.to),
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
  const key = keyOf(taken);
  return overlay.edges.get(key)?.count ?? overlay.returns.get(key) ?? 0;
}

export function useOf(overlay: Overlay, node: string): NodeUse | undefined {
  return overlay.nodes.get(shortId(node));
}

interface Where {
  readonly workflow: string;
  readonly state: StateName;
}

interface Traced extends Where {
  readonly callers: Callers | undefined;
  readonly question: RunEventOf<'agent-asked'> | undefined;
  readonly started: { readonly at: number; readonly node: string } | undefined;
}

/** A linked list with the innermost caller first, so that a call does not copy it. */
interface Callers {
  readonly caller: Where;
  readonly callee: string;
  readonly outer: Callers | undefined;
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

function keyOf(taken: Taken): string {
  const to = shortId(taken.to);
  if ('caller' in taken) return JSON.stringify([taken.caller, 'after', shortId(taken.callee), to]);
  if ('resultOf' in taken) return JSON.stringify([shortId(taken.resultOf), 'leads', to]);
  return JSON.stringify([taken.from, taken.role, to]);
}

/** A tag names a workflow by a path, a run by an absolute path. Both end in the same name. */
function shortId(node: string): string {
  const path = /^workflow:(.*)$/s.exec(node)?.[1];
  return path === undefined ? node : workflowNode(lastName(path));
}

function lastName(path: string): string {
  const name = path.split(/[/\\]/).filter(Boolean).at(-1) ?? path;
  return name.replace(/\.(?:zip|ya?ml|md)$/, '');
}
