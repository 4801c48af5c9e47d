import type { EdgeRole, Graph, GraphEdge, GraphNode } from '../graph/graph.ts';
import { type Overlay, timesTaken, useOf, withTaken } from '../graph/overlay.ts';
import { counted } from '../model/counted.ts';
import { unreachable } from '../model/unreachable.ts';
import { clip } from '../parse/clip.ts';
import { escapeText } from './escape.ts';
import { layoutOf, type PlacedEdge, type PlacedNode, type Point } from './layout.ts';
import { legendOf } from './legend.ts';
import { SVG_STYLE } from './svg-style.ts';

export interface SvgOptions {
  /** The link of a node. */
  readonly link?: (node: GraphNode) => string | undefined;
}

/** A picture without other files: it uses the system's fonts, and its colours follow light and dark. */
export function toSvg(graph: Graph, overlay?: Overlay, options: SvgOptions = {}): string {
  const shown = overlay ? withTaken(graph, overlay) : graph;
  const layout = layoutOf(shown, {
    detail: (node) => detailOf(node, overlay),
    label: (edges) => labelOf(edges, overlay),
  });
  const legend = legendOf(shown, layout.width);
  const [width, height] = [Math.max(layout.width, legend.width), layout.height + legend.height];
  const roles = [...new Set(shown.edges.map(({ role }) => role))];
  return [
    `<svg class="raymond" xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="${options.link ? 'group' : 'img'}">`,
    `<title>${escapeText(graph.name)}</title>`,
    `<desc>${escapeText(describe(graph))}</desc>`,
    `<style>${SVG_STYLE}</style>`,
    `<defs>${[...roles, 'taken' as const].map(arrowHead).join('')}</defs>`,
    `<rect width="${width}" height="${height}" fill="var(--paper)"/>`,
    `<g transform="translate(${(width - layout.width) / 2} 0)">`,
    ...layout.edges.map((edge) => drawEdge(edge, overlay)),
    ...layout.nodes.map((node, index) => drawNode(node, index, graph, overlay, options)),
    '</g>',
    `<g class="legend" transform="translate(0 ${layout.height})">${legend.svg}</g>`,
    '</svg>',
    '',
  ].join('\n');
}

function describe({ name, nodes, edges }: Graph): string {
  const states = nodes.filter(({ kind }) => kind === 'prompt' || kind === 'script').length;
  return `The workflow ${name}: ${counted(states, 'state')}, ${counted(edges.length, 'transition')}.`;
}

function detailOf(node: GraphNode, overlay: Overlay | undefined): string {
  const use = overlay && useOf(overlay, node.id);
  if (!use) return node.detail;
  const cost = use.costUsd > 0 ? [`$${use.costUsd.toFixed(use.costUsd < 1 ? 3 : 2)}`] : [];
  return [`${use.visits}×`, shortTime(use.timeMs), ...cost].join(' · ');
}

function shortTime(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function labelOf(edges: readonly GraphEdge[], overlay: Overlay | undefined): string {
  const label = clip([...new Set(edges.map((edge) => edge.label))].join(', '));
  const [first] = edges;
  const count = overlay && first ? timesTaken(overlay, first) : 0;
  return count > 0 ? `${label} ${count}×` : label;
}

function arrowHead(kind: EdgeRole | 'taken'): string {
  return `<marker id="head-${kind}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path class="head ${kind}" d="M0 0.8 10 5 0 9.2z"/></marker>`;
}

function drawEdge({ edges, label, points, labelAt }: PlacedEdge, overlay?: Overlay): string {
  const [edge] = edges;
  const isUsed = overlay !== undefined && timesTaken(overlay, edge) > 0;
  const head = isUsed ? 'taken' : edge.role;
  // The end node already shows that this edge is a result.
  const text = edge.role === 'result' && !isUsed ? '' : label;
  return [
    `<g class="edge ${edge.role}${overlay ? (isUsed ? ' used' : ' unused') : ''}">`,
    `<path d="${edge.from === edge.to ? loop(points) : curve(points)}" marker-end="url(#head-${head})"/>`,
    text && `<text x="${round(labelAt.x)}" y="${round(labelAt.y + 4)}">${escapeText(text)}</text>`,
    '</g>',
  ].join('');
}

/** Vertical at nodes and labels, so that lines leave and arrive straight. */
function curve([first, ...rest]: readonly Point[]): string {
  if (!first) return '';
  let from = first;
  const segments = rest.map((to) => {
    const middle = (from.y + to.y) / 2;
    const bend = `C${at({ x: from.x, y: middle })} ${at({ x: to.x, y: middle })} ${at(to)}`;
    from = to;
    return bend;
  });
  return `M${at(first)}${segments.join('')}`;
}

/** A curve that touches the second of its three points. */
function loop([first, middle, last]: readonly Point[]): string {
  if (!first || !middle || !last) return '';
  const reach = first.x + ((middle.x - first.x) * 4) / 3;
  const [out, back] = [
    { x: reach, y: first.y },
    { x: reach, y: last.y },
  ];
  return `M${at(first)}C${at(out)} ${at(back)} ${at(last)}`;
}

function drawNode(
  placed: PlacedNode,
  index: number,
  graph: Graph,
  overlay: Overlay | undefined,
  options: SvgOptions,
): string {
  const { node, x, y } = placed;
  const use = overlay && useOf(overlay, node.id);
  const classes = ['node', node.kind, ...(overlay ? [use ? 'used' : 'unused'] : [])];
  const isEnd = node.kind === 'end';
  const drawn = [
    `<g class="${classes.join(' ')}" id="node-${index}">`,
    `<title>${escapeText(`${node.label}: ${detailOf(node, overlay)}`)}</title>`,
    shape(placed),
    node.id === graph.entry ? entryMark(placed) : '',
    `<text class="name" x="${round(x)}" y="${round(y + (isEnd ? 4 : -2))}">${escapeText(node.label)}</text>`,
    isEnd
      ? ''
      : `<text class="detail" x="${round(x)}" y="${round(y + 15)}">${escapeText(detailOf(node, overlay))}</text>`,
    '</g>',
  ].join('');
  const href = options.link?.(node);
  return href === undefined ? drawn : `<a href="${escapeText(href)}">${drawn}</a>`;
}

function shape({ node, x, y, width, height }: PlacedNode): string {
  const [left, top] = [round(x - width / 2), round(y - height / 2)];
  const box = (radius: number) =>
    `<rect class="box" x="${left}" y="${top}" width="${width}" height="${height}" rx="${radius}"/>`;
  switch (node.kind) {
    case 'prompt':
      return box(14);
    case 'script':
      return `${box(3)}<rect class="bar" x="${left}" y="${top}" width="6" height="${height}" rx="2"/>`;
    case 'workflow':
      return `${box(3)}<rect class="inner" x="${left + 4}" y="${top + 4}" width="${width - 8}" height="${height - 8}" rx="2"/>`;
    case 'end':
      return box(height / 2);
    case 'missing':
    case 'broken':
      return box(3);
    case 'unknown':
      return box(height / 2);
    default:
      return unreachable(node);
  }
}

function entryMark({ x, y, width }: PlacedNode): string {
  const tip = round(x - width / 2 - 3);
  return `<path class="entry" d="M${tip} ${round(y)}l-12 -7v14z"/>`;
}

const at = ({ x, y }: Point) => `${round(x)} ${round(y)}`;

const round = (value: number) => Math.round(value * 10) / 10;
