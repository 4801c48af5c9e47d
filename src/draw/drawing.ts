import type { Graph, GraphNode } from '../graph/graph.ts';
import { type Overlay, timesTaken, useOf, withTaken } from '../graph/overlay.ts';
import { escapeText } from '../model/escape.ts';
import { unreachable } from '../model/unreachable.ts';
import { type Heat, heatOf } from './heat.ts';
import { layoutOf } from './layout.ts';
import {
  MARK_GAP,
  markWidth,
  type PlacedEdge,
  type PlacedNode,
  type Words,
} from './layout-parts.ts';
import { LOCK, LOCK_STYLE, lineThrough, loopThrough, rounded } from './lines.ts';
import {
  type LineRole,
  type Picture,
  type PictureEdge,
  type PictureNode,
  pictureOf,
} from './picture.ts';
import { wordsFor } from './words.ts';

interface Drawing {
  readonly picture: Picture;
  readonly width: number;
  readonly height: number;
  /** Elements of SVG. */
  readonly content: string;
}

interface DrawingOptions {
  readonly link?: (node: GraphNode) => string | undefined;
  /** Colours the nodes by their part of the cost or time of the overlay. */
  readonly heat?: Heat | undefined;
}

/** The lines and nodes of a graph, and with an overlay what a run did in it. */
export function drawingOf(graph: Graph, overlay?: Overlay, options: DrawingOptions = {}): Drawing {
  const shown = overlay ? withTaken(graph, overlay) : graph;
  const picture = pictureOf(shown);
  const words = wordsFor(overlay);
  const { width, height, nodes, edges } = layoutOf(picture, words);
  const indexes = new Map(shown.nodes.map(({ id }, index) => [id, index]));
  const shows = new Map(picture.nodes.map((node) => [node.id, indexes.get(node.shows.id)]));
  const pen: Pen = {
    ...{ overlay, words, options, entry: graph.entry },
    heat: heatOf(overlay, options.heat),
    indexOf: (id) => shows.get(id),
  };
  // In reading order, which is also the tab order.
  const inOrder = nodes.toSorted((a, b) => a.y - b.y || a.x - b.x);
  return {
    picture,
    width,
    height,
    content: [
      `<defs>${headsFor(picture).map(arrowHead).join('')}</defs>`,
      ...edges.map((edge) => drawLine(pen, edge)),
      ...edges.map((edge) => drawLabel(pen, edge)),
      ...inOrder.map((node) => drawNode(pen, node)),
    ]
      .filter((part) => part !== '')
      .join('\n'),
  };
}

interface Pen {
  readonly overlay: Overlay | undefined;
  readonly words: Words;
  readonly entry: string;
  readonly options: DrawingOptions;
  readonly heat: ReturnType<typeof heatOf>;
  /** The index in the graph of the node that a node of the picture shows. */
  readonly indexOf: (id: string) => number | undefined;
}

type Head = LineRole | 'taken';

function headsFor({ edges }: Picture): readonly Head[] {
  return [...new Set(edges.map(({ role }) => role)), 'taken'];
}

function arrowHead(kind: Head): string {
  return `<marker id="head-${kind}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path class="head ${kind}" d="M0 0.8 10 5 0 9.2z"/></marker>`;
}

function drawLine(pen: Pen, { edge, points }: PlacedEdge): string {
  const isLoop = edge.from === edge.to;
  const head = isUsed(pen, edge) ? 'taken' : edge.role;
  return `<path class="${edgeClasses(pen, edge)}" d="${isLoop ? loopThrough(points) : lineThrough(points)}" marker-end="url(#head-${head})"/>`;
}

function drawLabel(pen: Pen, { edge, labelAt: { x, y } }: PlacedEdge): string {
  const text = pen.words.label(edge);
  if (text === '') return '';
  return `<text class="label ${edgeClasses(pen, edge)}" x="${rounded(x)}" y="${rounded(y + 4)}">${escapeText(text)}</text>`;
}

/** The classes `from-…` and `to-…` let a page mark the lines of a chosen state. */
function edgeClasses(pen: Pen, edge: PictureEdge): string {
  const use = pen.overlay ? (isUsed(pen, edge) ? 'used' : 'unused') : '';
  const ends = `from-${pen.indexOf(edge.from)} to-${pen.indexOf(edge.to)}`;
  return ['edge', edge.role, use, ends].filter((name) => name !== '').join(' ');
}

function isUsed({ overlay }: Pen, { taken }: PictureEdge): boolean {
  return overlay !== undefined && timesTaken(overlay, taken) > 0;
}

function drawNode(pen: Pen, placed: PlacedNode): string {
  const { overlay, words, options } = pen;
  const { node, x, y } = placed;
  const isVisited = overlay && useOf(overlay, node.shows.id) !== undefined;
  const heat = pen.heat(node);
  const classes = [
    ...['node', node.kind],
    ...(overlay ? [isVisited ? 'used' : 'unused'] : []),
    ...(heat === undefined ? [] : ['heated']),
  ];
  const detail = words.detail(node);
  const text = (kind: string, below: number, content: string) =>
    `<text class="${kind}" x="${rounded(x)}" y="${rounded(y + below)}">${escapeText(content)}</text>`;
  const drawn = [
    `<g class="${classes.join(' ')} is-${pen.indexOf(node.id)}">`,
    `<title>${escapeText([node.shows.label, detail || 'is drawn elsewhere', ...limitsOf(node)].join(': '))}</title>`,
    node.id === pen.entry ? entryMark(placed) : '',
    shape(placed),
    heat === undefined ? '' : heatMark(placed, heat),
    text('name', detail === '' ? 5 : -2, words.name(node)),
    detail === '' ? '' : text('detail', 15, detail),
    node.shows.rights === undefined ? '' : lockMark(placed),
    node.result ? resultMark(pen, placed) : '',
    '</g>',
  ].join('');
  const href = options.link?.(node.shows);
  return href === undefined ? drawn : `<a href="${escapeText(href)}">${drawn}</a>`;
}

const limitsOf = ({ shows: { rights } }: PictureNode) =>
  rights === undefined ? [] : [`may ${rights}`];

/** At the upper right corner. */
function lockMark({ x, y, width, height }: PlacedNode): string {
  const at = `${rounded(x + width / 2 - 10)} ${rounded(y - height / 2 + 9)}`;
  return `<path class="lock" ${LOCK_STYLE} transform="translate(${at})" d="${LOCK}"/>`;
}

function shape({ node, x, y, width, height }: PlacedNode): string {
  const [left, top] = [rounded(x - width / 2), rounded(y - height / 2)];
  const box = (radius: number) =>
    `<rect class="box" x="${left}" y="${top}" width="${width}" height="${height}" rx="${radius}"/>`;
  const side = (offset: number) =>
    `<path class="side" d="M${rounded(left + offset)} ${top}v${height}"/>`;
  switch (node.kind) {
    case 'prompt':
      return box(14);
    case 'script':
      return `${box(3)}<rect class="bar" x="${left}" y="${top}" width="6" height="${height}" rx="2"/>`;
    case 'workflow':
      return `${box(3)}<rect class="inner" x="${left + 4}" y="${top + 4}" width="${width - 8}" height="${height - 8}" rx="2"/>`;
    case 'reference':
      return `${box(3)}${side(7)}${side(width - 7)}`;
    case 'missing':
    case 'broken':
      return box(3);
    case 'unknown':
      return box(height / 2);
    default:
      return unreachable(node.kind);
  }
}

function heatMark({ node, x, y, width, height }: PlacedNode, heat: number): string {
  const radius = node.kind === 'prompt' ? 14 : node.kind === 'unknown' ? height / 2 : 3;
  return `<rect class="heat" x="${rounded(x - width / 2)}" y="${rounded(y - height / 2)}" width="${width}" height="${height}" rx="${radius}" fill-opacity="${(heat * HOTTEST).toFixed(2)}"/>`;
}

/** The text on it stays readable. */
const HOTTEST = 0.6;

function entryMark({ x, y, height }: PlacedNode): string {
  const top = rounded(y - height / 2);
  return `<path class="entry" d="M${rounded(x)} ${top - 1}l-6 -11h12z"/><circle class="entry" cx="${rounded(x)}" cy="${top - 17}" r="5"/>`;
}

function resultMark({ overlay, words }: Pen, { node, x, y, width }: PlacedNode): string {
  const isTaken = overlay && node.result && timesTaken(overlay, node.result) > 0;
  const text = words.result(node);
  const [right, markedWidth] = [rounded(x + width / 2), markWidth(text)];
  const left = right + MARK_GAP;
  return `<g class="result${isTaken ? ' taken' : ''}"><path d="M${right} ${rounded(y)}h${MARK_GAP}"/><rect x="${left}" y="${rounded(y - 10)}" width="${markedWidth}" height="20" rx="10"/><text x="${rounded(left + markedWidth / 2)}" y="${rounded(y + 4)}">${escapeText(text)}</text></g>`;
}
