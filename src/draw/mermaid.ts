import type { EdgeRole, Graph, GraphEdge, GraphNode } from '../graph/graph.ts';
import { unreachable } from '../model/unreachable.ts';

/** A Mermaid flowchart, which many code hosts draw inside markdown. */
export function toMermaid(graph: Graph): string {
  const ids = new Map(graph.nodes.map(({ id }, index) => [id, `n${index}`]));
  const lines = merged(graph.edges).map(
    ({ from, to, role, label }) =>
      `  ${ids.get(from)} ${ARROWS[role]}|${quoted(label)}| ${ids.get(to)}`,
  );
  return [
    'flowchart TD',
    ...graph.nodes.map((node) => `  ${ids.get(node.id)}${shape(node)}`),
    ...lines,
    ...CLASSES.map(([kind, style]) => `  classDef ${kind} ${style}`),
    ...graph.nodes.map((node) => `  class ${ids.get(node.id)} ${classOf(node)}`),
    ...(ids.has(graph.entry) ? [`  style ${ids.get(graph.entry)} stroke-width:4px`] : []),
    '',
  ].join('\n');
}

/** Thick lines start an agent or a call. Dotted lines return to a caller or wait for a person. */
const ARROWS: Readonly<Record<EdgeRole, string>> = {
  go: '-->',
  call: '==>',
  return: '-.->',
  worker: '==>',
  next: '-.->',
  join: '-.->',
  answer: '-.->',
  timeout: '-.->',
  result: '-->',
  judge: '-.-',
};

function merged(edges: readonly GraphEdge[]): readonly GraphEdge[] {
  const byEnds = new Map<string, { readonly edge: GraphEdge; readonly labels: Set<string> }>();
  for (const edge of edges) {
    const key = JSON.stringify([edge.from, edge.to, edge.role]);
    const known = byEnds.get(key);
    if (known) known.labels.add(edge.label);
    else byEnds.set(key, { edge, labels: new Set([edge.label]) });
  }
  return [...byEnds.values()].map(({ edge, labels }) => ({
    ...edge,
    label: [...labels].join(', '),
  }));
}

function shape(node: GraphNode): string {
  const text = quoted(node.label);
  switch (node.kind) {
    case 'prompt':
      return `(${text})`;
    case 'script':
      return `[${text}]`;
    case 'workflow':
      return `[[${text}]]`;
    case 'end':
      return `([${text}])`;
    case 'missing':
    case 'broken':
      return `{{${text}}}`;
    case 'unknown':
      return `{${text}}`;
    default:
      return unreachable(node);
  }
}

const CLASSES = [
  ['prompt', 'fill:#eef4ff,stroke:#2f6bd8,color:#1f2328'],
  ['script', 'fill:#edf9f0,stroke:#2c8a4b,color:#1f2328'],
  ['workflow', 'fill:#f7f1ff,stroke:#8250df,color:#1f2328'],
  ['finish', 'fill:#1f2328,stroke:#1f2328,color:#ffffff'],
  ['faulty', 'fill:#fff1f0,stroke:#cf222e,color:#1f2328,stroke-dasharray:5 3'],
  ['open', 'fill:#f6f8fa,stroke:#848d97,color:#1f2328,stroke-dasharray:2 3'],
] as const;

/** Mermaid reserves words such as "end". */
function classOf({ kind }: GraphNode): (typeof CLASSES)[number][0] {
  switch (kind) {
    case 'prompt':
    case 'script':
    case 'workflow':
      return kind;
    case 'end':
      return 'finish';
    case 'missing':
    case 'broken':
      return 'faulty';
    case 'unknown':
      return 'open';
  }
}

/**
 * Replaces characters with codes where Mermaid would read its own syntax, HTML or the start of a
 * markdown list.
 */
function quoted(text: string): string {
  const safe = text.replace(
    /[^\p{L}\p{N} ._,()-]|[.)-](?= )/gu,
    (char) => `#${char.codePointAt(0)};`,
  );
  return `"${safe}"`;
}
