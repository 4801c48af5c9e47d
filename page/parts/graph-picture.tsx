import { useMemo } from 'preact/hooks';
import type { ShownGraph } from '../../src/draw/arrange.ts';
import { LOCK, lineThrough, loopThrough } from '../../src/draw/lines.ts';
import { textWidth } from '../../src/draw/text-width.ts';
import type { Forecast } from '../../src/forecast/forecast.ts';
import { duration, usd } from '../lib/words.ts';
import { type UsualState, usualOf, usualText } from '../stores/forecast.ts';
import { type Heat, heatOf } from './heat.ts';

type Node = ShownGraph['nodes'][number];
type Edge = ShownGraph['edges'][number];

interface Props {
  readonly graph: ShownGraph;
  readonly heat: Heat;
  readonly forecast: Forecast | undefined;
  readonly chosen: string | undefined;
  readonly onState: (state: string) => void;
  /** How small it is drawn, in steps, so that names stay readable. */
  readonly scale: number;
  /** The ids of the nodes that somebody looks for. */
  readonly found: ReadonlySet<string>;
  /** The id of the node that got the focus. */
  readonly onFocus: (id: string) => void;
  /** What can be folded, by the id of the node that stays. */
  readonly regions: ReadonlyMap<string, readonly string[]>;
  readonly onFold: (id: string) => void;
}

/** The lines and boxes. They change only when the graph does, not when the view moves. */
export function GraphPicture(props: Props) {
  const { graph, heat, forecast, chosen, scale, found } = props;
  // The acts do the same in every drawing.
  return useMemo(
    () => <Picture {...props} />,
    [graph, heat, forecast, chosen, scale, found, props.regions],
  );
}

function Picture({ graph, heat, forecast, chosen, scale, found, ...acts }: Props) {
  const { onState, onFocus, regions, onFold } = acts;
  const hot = heatOf(graph.nodes, heat, forecast);
  const inOrder = graph.nodes.toSorted((a, b) => a.y - b.y || a.x - b.x);
  const roles = [...new Set(graph.edges.map(({ role }) => role)), 'taken'];
  return (
    <>
      <defs>
        {roles.map((role) => (
          <marker
            key={role}
            id={`head-${role}`}
            viewBox="0 0 10 10"
            refX="9"
            refY="5"
            markerWidth="9"
            markerHeight="9"
            markerUnits="userSpaceOnUse"
            orient="auto"
          >
            <path class={`head ${role}`} d="M0 0.8 10 5 0 9.2z" />
          </marker>
        ))}
      </defs>
      {graph.edges.map((edge) => (
        <Line key={keyOf(edge)} edge={edge} />
      ))}
      {graph.edges.map((edge) => (
        <Label key={keyOf(edge)} edge={edge} />
      ))}
      {inOrder.map((node) => (
        <Box
          key={node.id}
          node={node}
          isEntry={node.id === graph.entry}
          isAcross={graph.isAcross}
          heat={hot(node)}
          usual={node.state === undefined ? undefined : usualOf(forecast, node.state)}
          scale={scale}
          isFound={found.has(node.id)}
          isChosen={chosen !== undefined && node.state === chosen}
          onState={onState}
          onFocus={onFocus}
        />
      ))}
      {inOrder.map((node) => {
        const inside = regions.get(node.id);
        return inside && <Fold key={node.id} node={node} places={inside.length} onFold={onFold} />;
      })}
    </>
  );
}

interface FoldProps {
  readonly node: Node;
  readonly places: number;
  readonly onFold: (id: string) => void;
}

/** Folds a region into its first state, and unfolds it. It is no part of the box, which is a button. */
function Fold({ node, places, onFold }: FoldProps) {
  const { id, x, y, width, height, folded } = node;
  const text = folded === undefined ? '−' : `+${folded}`;
  const wide = Math.max(20, text.length * 8 + 8);
  const act = folded === undefined ? `Fold ${places} places` : `Unfold ${folded} places`;
  return (
    // biome-ignore lint/a11y/useSemanticElements: SVG has no button.
    <g
      class={`fold ${folded === undefined ? '' : 'folded'}`}
      role="button"
      // SVG knows the attribute only in small letters.
      tabindex={0}
      aria-label={`${act} after ${node.label}`}
      transform={`translate(${x - width / 2 + wide / 2 + 6} ${y + height / 2})`}
      onClick={(event) => event.defaultPrevented || onFold(id)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        onFold(id);
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      <title>{act}</title>
      <rect class="fold-plate" x={-wide / 2} y="-9" width={wide} height="18" rx="9" />
      <text class="fold-text" y="4">
        {text}
      </text>
    </g>
  );
}

const keyOf = ({ from, to, role }: Edge) => `${from} ${role} ${to}`;

function Line({ edge: { from, to, role, taken, points } }: { readonly edge: Edge }) {
  const isTaken = taken > 0;
  return (
    <path
      class={`edge ${role} ${isTaken ? 'taken' : ''}`}
      d={from === to ? loopThrough(points) : lineThrough(points)}
      marker-end={`url(#head-${isTaken ? 'taken' : role})`}
    />
  );
}

function Label({ edge }: { readonly edge: Edge }) {
  const { label, taken, label_at } = edge;
  const text = [label, ...(taken > 0 ? [`${taken}×`] : [])].filter(Boolean).join(' ');
  if (text === '') return null;
  const isBeside = isUpright(edge);
  return (
    <text
      class={`edge-label ${taken > 0 ? 'taken' : ''} ${isBeside ? 'beside' : ''}`}
      x={label_at.x + (isBeside ? 6 : 0)}
      y={label_at.y + (isBeside ? 4 : -5)}
    >
      {text}
    </text>
  );
}

/** Whether the line goes up or down where its label is. Then the label has its place beside it. */
function isUpright({ from, to, points, label_at }: Edge): boolean {
  if (from === to) return true;
  return points.some((point, at) => {
    const next = points[at + 1];
    if (!next) return false;
    const isHere = (['x', 'y'] as const).every(
      (axis) =>
        label_at[axis] >= Math.min(point[axis], next[axis]) - 1 &&
        label_at[axis] <= Math.max(point[axis], next[axis]) + 1,
    );
    return isHere && Math.abs(next.y - point.y) > Math.abs(next.x - point.x);
  });
}

interface BoxProps {
  readonly node: Node;
  readonly isEntry: boolean;
  readonly isAcross: boolean;
  readonly heat: number;
  readonly usual: UsualState | undefined;
  readonly scale: number;
  readonly isFound: boolean;
  readonly isChosen: boolean;
  readonly onState: (state: string) => void;
  readonly onFocus: (id: string) => void;
}

function Box({ node, isEntry, isAcross, heat, usual, scale, ...more }: BoxProps) {
  const { isFound, isChosen, onState, onFocus } = more;
  const { kind, x, y, width, height, state, visits } = node;
  const [left, top] = [x - width / 2, y - height / 2];
  const figures = figuresOf(node);
  const used = visits > 0 ? 'used' : 'unused';
  const classes = [
    'node',
    kind,
    used,
    isChosen ? 'chosen' : '',
    heat > 0 ? 'hot' : '',
    isFound ? 'found' : '',
  ];
  // Far away, a name is all that fits.
  const isFar = scale < FAR;
  const choose = () => state !== undefined && onState(state);
  return (
    // biome-ignore lint/a11y/useSemanticElements: SVG has no button.
    <g
      class={classes.join(' ')}
      role="button"
      // SVG knows the attribute only in small letters.
      tabindex={state === undefined ? undefined : 0}
      onClick={(event) => event.defaultPrevented || choose()}
      onFocus={() => onFocus(node.id)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        choose();
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      {isEntry && (
        <path
          class="entry"
          d={isAcross ? `M${left - 2} ${y}l-10 -6v12z` : `M${x} ${top - 2}l-6 -10h12z`}
        />
      )}
      {node.folded !== undefined && (
        <rect class="box" x={left + 5} y={top + 5} width={width} height={height} rx={RADII[kind]} />
      )}
      <rect class="box" x={left} y={top} width={width} height={height} rx={RADII[kind]} />
      {heat > 0 && (
        <rect
          class="heat"
          x={left}
          y={top}
          width={width}
          height={height}
          rx={RADII[kind]}
          style={{ opacity: 0.08 + 0.52 * heat }}
        />
      )}
      {kind === 'script' && <rect class="bar" x={left} y={top} width="5" height={height} rx="2" />}
      {isFar ? (
        <text
          class="name"
          x={x}
          y={y}
          dy="0.35em"
          style={{ fontSize: `${farSize(node, scale)}px` }}
        >
          {node.name}
        </text>
      ) : (
        <text class="name" x={x} y={kind === 'reference' ? y + 5 : y - 2}>
          {node.name}
        </text>
      )}
      {kind !== 'reference' && !isFar && (
        <text class="detail" x={x} y={y + 15}>
          {figures || (usual ? `usually ${usualText(usual)}` : node.detail)}
        </text>
      )}
      {node.rights !== undefined && (
        <path class="lock" transform={`translate(${left + width - 10} ${top + 9})`} d={LOCK}>
          <title>{`may ${node.rights}`}</title>
        </path>
      )}
      {node.results !== undefined && <Result node={node} isBelow={isAcross} />}
    </g>
  );
}

/** Below this size, details cannot be read. */
const FAR = 0.62;
const NAME_PX = 14;
/** As large as the name must be to be read, if the box has room for it. */
function farSize({ name, width, height }: Node, scale: number): number {
  const room = Math.min((width - 10) / textWidth(name, 1, 'bold'), height * 0.8);
  return Math.max(NAME_PX, Math.min(NAME_PX / scale, room));
}

const RADII: Readonly<Record<Node['kind'], number>> = {
  prompt: 14,
  script: 4,
  workflow: 4,
  reference: 4,
  missing: 4,
  broken: 4,
  unknown: 22,
};

function figuresOf({ kind, visits, time_ms, cost_usd, folded }: Node): string {
  if ((visits === 0 && folded === undefined) || kind === 'reference') return '';
  return [
    folded === undefined ? `${visits}×` : `${folded} folded`,
    ...(time_ms > 0 ? [duration(time_ms)] : []),
    ...(cost_usd > 0 ? [usd(cost_usd)] : []),
  ].join(' · ');
}

function resultText({ results }: Node): string {
  if (results === undefined) return '';
  return results > 0 ? `result ${results}×` : 'result';
}

function Result({ node, isBelow }: { readonly node: Node; readonly isBelow: boolean }) {
  const { x, y, width, height, results = 0 } = node;
  const text = resultText(node);
  const long = text.length * 6.6 + 14;
  const left = isBelow ? x - long / 2 : x + width / 2 + 8;
  const middle = isBelow ? y + height / 2 + 18 : y;
  return (
    <g class={`result ${results > 0 ? 'taken' : ''}`}>
      <path d={isBelow ? `M${x} ${middle - 18}v8` : `M${left - 8} ${y}h8`} />
      <rect x={left} y={middle - 10} width={long} height="20" rx="10" />
      <text x={left + long / 2} y={middle + 4}>
        {text}
      </text>
    </g>
  );
}
