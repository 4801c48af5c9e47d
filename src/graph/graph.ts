/** A workflow as nodes and edges. Lint, diagrams and exploration share this graph. */
import { handoverFor } from '../interpret/handover.ts';
import { rightsOf } from '../interpret/rights.ts';
import { rightsText } from '../model/rights-text.ts';
import type { StateName } from '../model/state-name.ts';
import type { TagName } from '../model/tag.ts';
import { unreachable } from '../model/unreachable.ts';
import { visible } from '../model/visible.ts';
import type { Position, State, Workflow } from '../model/workflow.ts';
import { allChoices } from '../parse/agent-choices.ts';
import { clip } from '../parse/clip.ts';
import { resolveState } from '../parse/resolve.ts';
import { stemOf } from '../parse/state.ts';
import { grouped } from './grouped.ts';
import {
  type Origin,
  type ReferencePart,
  type StateReference,
  statesHere,
  type Way,
  waysOf,
} from './ways.ts';

export interface Graph {
  readonly name: string;
  /** Id of the node at which the workflow starts. */
  readonly entry: string;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly calls: readonly Call[];
}

/** A result of the callee leads to the node `back`. */
export interface Call {
  readonly caller: string;
  readonly callee: string;
  readonly back: string;
}

export type GraphNode = {
  readonly id: string;
  readonly label: string;
  /** The kind of the node for a reader, with its settings. */
  readonly detail: string;
  /** What the processes of a state may touch; absent if the workflow does not limit it. */
  readonly rights?: string;
} & (
  | { readonly kind: 'prompt' | 'script' | 'broken'; readonly state: StateName }
  /** Another workflow, by its path. */
  | { readonly kind: 'workflow'; readonly path: string }
  /** A state that a tag names and that does not exist. */
  | { readonly kind: 'missing' }
  /** A target that is chosen while the workflow runs. */
  | { readonly kind: 'unknown' }
  /** A result: returns to the caller, or ends the run. */
  | { readonly kind: 'end' }
);

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly role: EdgeRole;
  readonly label: string;
  /** possible: read from a prompt's text, chosen at run time, or taken only when an evaluator fires. */
  readonly certainty: 'certain' | 'possible';
  /** Absent for the question to a judge or for a handover, which are no transitions. */
  readonly tag?: TagName;
  readonly origin: Origin | 'run';
  readonly at: Position;
}

export const EDGE_ROLES = [
  'go',
  'call',
  /** From the caller to the state at which it continues after its callee has returned. */
  'return',
  /** From the parent to the first state of a child. The API has this name. */
  'worker',
  /** To the state at which the parent continues beside its children. */
  'next',
  /** To the state at which the parent continues after its children. */
  'join',
  /** To the state at which the parent continues when a child failed. */
  'failed',
  'answer',
  'timeout',
  'result',
  'judge',
  /** To the state whose text asks for a handover. */
  'handover',
] as const;
export type EdgeRole = (typeof EDGE_ROLES)[number];

export const END = 'end';

export const stateNode = (state: StateName) => `state:${state}`;

/** The name of the state that a node stands for; undefined for other nodes. */
export const stateOfNode = (node: string) =>
  node.startsWith('state:') ? node.slice('state:'.length) : undefined;
export const workflowNode = (path: string) => `workflow:${path}`;

export function graphOf(workflow: Workflow): Graph {
  const states = statesHere(workflow);
  const nodes = new Map(states.map((state) => [stateNode(state.name), nodeOf(state, workflow)]));
  const edges = new Map<string, GraphEdge>();
  const connect = ({ node, ...edge }: NewEdge) => {
    if (!nodes.has(node.id)) nodes.set(node.id, node);
    const { from, role, tag, origin } = edge;
    const key = JSON.stringify([from, node.id, role, tag, origin]);
    if (!edges.has(key)) edges.set(key, { ...edge, to: node.id });
  };
  const calls = new Map<string, Call>();
  for (const state of states) {
    for (const way of waysOf(workflow, state)) {
      const ways = edgesOf(state, way);
      ways.forEach(connect);
      const call = callIn(ways);
      if (call) calls.set(JSON.stringify(call), call);
    }
    judges(workflow, state).forEach(connect);
    handovers(workflow, state).forEach(connect);
  }
  return {
    name: workflow.name,
    entry: stateNode(workflow.entry),
    nodes: [...nodes.values()].map((node) => ({ ...node, label: visible(node.label) })),
    edges: [...edges.values()],
    calls: [...calls.values()],
  };
}

/** The edges that leave each node, and those that lead to it. */
export function edgesByEnd(edges: readonly GraphEdge[]) {
  return { from: grouped(edges, ({ from }) => from), to: grouped(edges, ({ to }) => to) };
}

type NewEdge = Omit<GraphEdge, 'to'> & { readonly node: GraphNode };

function nodeOf(state: State, workflow: Workflow): GraphNode {
  const { name, kind } = state;
  // Two files may share a stem. Then only the whole name identifies one of them.
  const isUnique = 'found' in resolveState(workflow, stemOf(name));
  const label = isUnique ? stemOf(name) : name;
  const rights = rightsOf({}, workflow, name);
  return {
    ...{ id: stateNode(name), label, detail: detailOf(state, workflow), kind, state: name },
    ...(rights && { rights: rightsText(rights) }),
  };
}

function detailOf(state: State, { agents }: Workflow): string {
  switch (state.kind) {
    case 'prompt': {
      const drawn = allChoices(agents).filter(({ isDrawn }) => isDrawn);
      const chosen = drawn.map(({ name }) => state.policy.choices[name]);
      return ['prompt', state.policy.agent, ...chosen]
        .flatMap((part) => (part === undefined ? [] : [part].flat().join(', ')))
        .join(' · ');
    }
    case 'script':
      return `script · ${state.interpreter}`;
    case 'broken':
      return 'cannot be read';
  }
}

function edgesOf(state: State, way: Way): readonly NewEdge[] {
  const { tag, origin, line, column } = way;
  const edge = (role: EdgeRole, label: string, node: GraphNode): NewEdge => ({
    from: stateNode(state.name),
    node,
    role,
    label: `${label}${OVERRIDES[origin] ?? ''}`,
    certainty: certaintyOf(way, node),
    tag,
    origin,
    at: { line, column },
  });
  const edgesTo = (part: ReferencePart, role: EdgeRole, label: string) => {
    const reference = way.references.find((candidate) => candidate.part === part);
    return reference ? [edge(role, label, nodeNamedBy(reference))] : [];
  };
  const elsewhere = (role: EdgeRole, label: string = tag) => [
    edge(role, label, otherWorkflow(way.body)),
  ];

  switch (tag) {
    case 'goto':
    case 'reset':
    case 'compact':
      return edgesTo('target', 'go', tag);
    case 'call':
    case 'function':
      return [...edgesTo('target', 'call', tag), ...edgesTo('return', 'return', 'return')];
    case 'fork':
      return [...edgesTo('target', 'worker', forkLabel(way)), ...edgesTo('next', 'next', 'next')];
    case 'join': {
      const after = `after ${clip(way.attributes.timeout ?? 'a while')}`;
      return [
        ...edgesTo('target', 'join', tag),
        ...edgesTo('failed_next', 'failed', 'a child agent failed'),
        ...edgesTo('timeout_next', 'timeout', after),
      ];
    }
    case 'ask':
      return [
        ...edgesTo('next', 'answer', 'ask'),
        ...edgesTo('timeout_next', 'timeout', `after ${clip(way.attributes.timeout ?? 'a while')}`),
      ];
    case 'result':
      return [edge('result', 'result', RESULT)];
    case 'call-workflow':
    case 'function-workflow':
      return [...elsewhere('call'), ...edgesTo('return', 'return', 'return')];
    case 'fork-workflow':
      return [...elsewhere('worker', forkLabel(way)), ...edgesTo('next', 'next', 'next')];
    case 'reset-workflow':
      return elsewhere('go');
    default:
      return unreachable(tag);
  }
}

function forkLabel({ tag, attributes }: Way): string {
  return attributes.worktree === undefined ? tag : `${tag}, worktree`;
}

function callIn(edges: readonly NewEdge[]): Call | undefined {
  const callee = edges.find(({ role }) => role === 'call');
  const back = edges.find(({ role }) => role === 'return');
  return callee && back && { caller: callee.from, callee: callee.node.id, back: back.node.id };
}

function certaintyOf(way: Way, to: GraphNode): GraphEdge['certainty'] {
  const isStated = way.origin === 'policy' || way.origin === 'script';
  return isStated && to.kind !== 'unknown' ? 'certain' : 'possible';
}

const UNKNOWN: GraphNode = {
  id: 'unknown',
  label: '?',
  detail: 'chosen at run time',
  kind: 'unknown',
};
const RESULT: GraphNode = {
  id: END,
  label: 'result',
  detail: 'returns to the caller, or ends the run',
  kind: 'end',
};

function nodeNamedBy(reference: StateReference): GraphNode {
  switch (reference.kind) {
    case 'state':
      return knownNode(reference.state);
    case 'problem': {
      const { written, resolution } = reference;
      if (resolution.broken !== undefined) return knownNode(resolution.broken);
      return { id: `missing:${written}`, label: clip(written), detail: 'missing', kind: 'missing' };
    }
    case 'open':
      return UNKNOWN;
  }
}

/** The node already exists, so only its id matters. */
function knownNode(state: StateName): GraphNode {
  return { id: stateNode(state), label: state, detail: '', kind: 'prompt', state };
}

function otherWorkflow(path: string | undefined): GraphNode {
  if (path === undefined) return UNKNOWN;
  const written = path.trim();
  return {
    id: workflowNode(written),
    label: clip(written),
    detail: 'workflow',
    kind: 'workflow',
    path: written,
  };
}

/** Marks a transition that the author wrote, not the agent. */
const OVERRIDES: Partial<Readonly<Record<Origin, string>>> = {
  evaluator: ' (evaluator)',
  ensures: ' (failed check)',
};

function judges(workflow: Workflow, state: State): readonly NewEdge[] {
  if (state.kind !== 'prompt') return [];
  return state.policy.evaluators.flatMap((evaluator) => {
    if (evaluator.kind !== 'prompt') return [];
    const resolution = resolveState(workflow, evaluator.state);
    const reference: StateReference =
      'found' in resolution
        ? { part: 'target', written: evaluator.state, kind: 'state', state: resolution.found }
        : { part: 'target', written: evaluator.state, kind: 'problem', resolution };
    return {
      from: stateNode(state.name),
      node: nodeNamedBy(reference),
      role: 'judge',
      label: 'judge',
      certainty: 'certain',
      origin: 'evaluator',
      at: { line: evaluator.line, column: evaluator.column },
    } as const;
  });
}

/** A name that does not exist has no edge: a step that needs it fails, and lint reports it. */
function handovers(workflow: Workflow, state: State): readonly NewEdge[] {
  const asking = handoverFor(workflow, state);
  if (asking === undefined || asking === state.name) return [];
  const limit = state.kind === 'prompt' ? state.policy.context : undefined;
  const isLimited = (limit ?? workflow.about.context) !== undefined;
  const compact = waysOf(workflow, state).find(({ tag }) => tag === 'compact');
  if (!compact && !isLimited) return [];
  const { line, column } = compact ?? limit ?? { line: 1, column: 1 };
  return [
    {
      from: stateNode(state.name),
      node: knownNode(asking),
      role: 'handover',
      label: 'handover',
      certainty: 'certain',
      origin: state.kind === 'script' ? 'script' : 'policy',
      at: { line, column },
    },
  ];
}
