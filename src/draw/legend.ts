import type { EdgeRole, Graph, GraphNode } from '../graph/graph.ts';

export interface Legend {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

/** Explains the shapes and lines that a drawing uses, in rows below it. Leaves out the others. */
export function legendOf({ nodes, edges }: Graph, width: number): Legend {
  const kinds = new Set(nodes.map(({ kind }) => kind));
  const roles = new Set(edges.map(({ role }) => role));
  const items = [
    ...KINDS.filter(([kind]) => kinds.has(kind)).map(([kind, words]) => ({ kind, words })),
    ...ROLES.filter(([role]) => roles.has(role)).map(([role, words]) => ({ role, words })),
  ];
  const perRow = Math.max(2, Math.floor((width - 2 * MARGIN) / COLUMN));
  const drawn = items.map((item, index) => {
    const x = MARGIN + (index % perRow) * COLUMN;
    const y = Math.floor(index / perRow) * ROW;
    const sign = 'kind' in item ? box(item.kind) : line(item.role);
    return `<g transform="translate(${x} ${y})">${sign}<text x="40" y="14">${item.words}</text></g>`;
  });
  const rows = Math.ceil(items.length / perRow);
  return {
    svg: drawn.join(''),
    width: 2 * MARGIN + Math.min(perRow, items.length) * COLUMN,
    height: rows * ROW + MARGIN / 2,
  };
}

const [MARGIN, COLUMN, ROW] = [28, 164, 24];

const KINDS: readonly (readonly [GraphNode['kind'], string])[] = [
  ['prompt', 'prompt'],
  ['script', 'script'],
  ['workflow', 'other workflow'],
  ['unknown', 'chosen at run time'],
  ['broken', 'cannot be read'],
  ['missing', 'missing'],
];

const ROLES: readonly (readonly [EdgeRole, string])[] = [
  ['go', 'continues at'],
  ['call', 'calls'],
  ['return', 'continues after the call'],
  ['worker', 'starts a worker'],
  ['next', 'continues beside its workers'],
  ['join', 'continues after its workers'],
  ['answer', 'asks a person'],
  ['timeout', 'its time is over'],
  ['result', 'returns a result'],
  ['judge', 'is judged by'],
];

function box(kind: GraphNode['kind']): string {
  const radius = kind === 'prompt' ? 6 : kind === 'unknown' ? 8 : 2;
  const bar = kind === 'script' ? '<rect class="bar" x="2" y="2" width="4" height="16"/>' : '';
  const inner =
    kind === 'workflow' ? '<rect class="inner" x="5" y="5" width="24" height="10"/>' : '';
  return `<g class="node ${kind}"><rect class="box" x="2" y="2" width="30" height="16" rx="${radius}"/>${bar}${inner}</g>`;
}

function line(role: EdgeRole): string {
  return `<g class="edge ${role}"><path d="M2 10H32" marker-end="url(#head-${role})"/></g>`;
}
