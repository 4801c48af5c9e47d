import type { Graph } from '../graph/graph.ts';
import type { Overlay } from '../graph/overlay.ts';
import { unreachable } from '../model/unreachable.ts';
import { visible } from '../model/visible.ts';
import { type Heat, heatOf } from './heat.ts';
import { type LineRole, type PictureNode, pictureOf } from './picture.ts';

/** A Mermaid flowchart, which many code hosts draw inside markdown. */
export function toMermaid(graph: Graph, overlay?: Overlay, heat?: Heat): string {
  const heatAt = heatOf(overlay, heat);
  const { nodes, edges, entry } = pictureOf(graph);
  const ids = new Map(nodes.map(({ id }, index) => [id, `n${index}`]));
  const ending = nodes.filter(({ result }) => result !== undefined);
  const endOf = (id: string) => `${ids.get(id)}r`;
  return [
    'flowchart TD',
    ...nodes.map((node) => `  ${ids.get(node.id)}${shape(node)}`),
    ...ending.map(({ id }) => `  ${endOf(id)}(["result"])`),
    ...edges.map(
      ({ from, to, role, label }) =>
        `  ${ids.get(from)} ${ARROWS[role]}${label === '' ? '' : `|${quoted(label)}|`} ${ids.get(to)}`,
    ),
    ...ending.map(({ id }) => `  ${ids.get(id)} --> ${endOf(id)}`),
    ...CLASSES.map(([kind, style]) => `  classDef ${kind} ${style}`),
    ...nodes.map((node) => `  class ${ids.get(node.id)} ${classOf(node)}`),
    ...ending.map(({ id }) => `  class ${endOf(id)} finish`),
    ...nodes.flatMap((node) => {
      const part = heatAt(node);
      return part === undefined ? [] : [`  style ${ids.get(node.id)} fill:${colourOf(part)}`];
    }),
    ...(ids.has(entry) ? [`  style ${ids.get(entry)} stroke-width:4px`] : []),
    '',
  ].join('\n');
}

/** From white to orange. */
function colourOf(part: number): string {
  const mixed = [247, 103, 7].map((hot) => Math.round(255 - (255 - hot) * part * 0.6));
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

/** Thick lines start an agent or a call. Dotted lines return to a caller or wait for a person. */
const ARROWS: Readonly<Record<LineRole, string>> = {
  go: '-->',
  call: '==>',
  return: '-.->',
  worker: '==>',
  next: '-.->',
  join: '-.->',
  failed: '-.->',
  answer: '-.->',
  timeout: '-.->',
  judge: '-.-',
  handover: '-.-',
};

function shape({ kind, shows }: PictureNode): string {
  const text = quoted(
    shows.rights === undefined ? shows.label : `${shows.label} 🔒 ${shows.rights}`,
  );
  switch (kind) {
    case 'prompt':
      return `(${text})`;
    case 'script':
      return `[${text}]`;
    case 'workflow':
    case 'reference':
      return `[[${text}]]`;
    case 'missing':
    case 'broken':
      return `{{${text}}}`;
    case 'unknown':
      return `{${text}}`;
    default:
      return unreachable(kind);
  }
}

const CLASSES = [
  ['prompt', 'fill:#eef4ff,stroke:#2f6bd8,color:#1f2328'],
  ['script', 'fill:#edf9f0,stroke:#2c8a4b,color:#1f2328'],
  ['workflow', 'fill:#f7f1ff,stroke:#8250df,color:#1f2328'],
  ['elsewhere', 'fill:#ffffff,stroke:#2f6bd8,color:#1f2328'],
  ['finish', 'fill:#1f2328,stroke:#1f2328,color:#ffffff'],
  ['faulty', 'fill:#fff1f0,stroke:#cf222e,color:#1f2328,stroke-dasharray:5 3'],
  ['open', 'fill:#f6f8fa,stroke:#848d97,color:#1f2328,stroke-dasharray:2 3'],
] as const;

/** Mermaid reserves words such as "end". */
function classOf({ kind }: PictureNode): (typeof CLASSES)[number][0] {
  switch (kind) {
    case 'prompt':
    case 'script':
    case 'workflow':
      return kind;
    case 'reference':
      return 'elsewhere';
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
  const safe = visible(text).replace(
    /[^\p{L}\p{N} ._,()-]|[.)-](?= )/gu,
    (char) => `#${char.codePointAt(0)};`,
  );
  return `"${safe}"`;
}
