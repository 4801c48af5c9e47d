import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Arranger, regionsOf, type ShownGraph } from '../../src/draw/arrange.ts';
import type { RunGraph } from '../../src/draw/run-graph.ts';
import type { Forecast } from '../../src/forecast/forecast.ts';
import { gestures } from '../../src/page/gestures.ts';
import {
  centred,
  fitted,
  isInside,
  moved,
  opened,
  READABLE,
  type Size,
  type View,
  zoomed,
} from '../../src/page/view.ts';
import { useSize } from '../lib/hooks.ts';
import { useStore } from '../lib/store.ts';
import { counted, oneLine } from '../lib/words.ts';
import type { Chosen } from '../stores/route.ts';
import type { RunWatch } from '../stores/run-watch.ts';
import { Check, Search } from './form.tsx';
import { GraphAgents } from './graph-agents.tsx';
import { GraphMap } from './graph-map.tsx';
import { GraphPicture } from './graph-picture.tsx';
import { type Heat, heatsFor } from './heat.ts';
import { Icon } from './icons.tsx';

interface Props {
  readonly watch: RunWatch;
  readonly chosen: Chosen;
  /** The agents that wait for a permission. */
  readonly waiting: ReadonlySet<string>;
  /** What tells the agents apart, by their ids. */
  readonly names: ReadonlyMap<string, string>;
  readonly onState: (state: string) => void;
  readonly onAgent: (agent: string) => void;
}

export function GraphView({ watch, ...rest }: Props) {
  const graph = useStore(watch.graph);
  const forecast = useStore(watch.forecast);
  if (graph === undefined)
    return (
      <div class="empty" aria-busy="true">
        <p>Loading the graph</p>
      </div>
    );
  if (!('nodes' in graph))
    return (
      <div class="empty" role="alert">
        <Icon name="graph" />
        <h2>{graph.message}</h2>
        <p>{graph.remedy}</p>
      </div>
    );
  return <Graph graph={graph} forecast={forecast} {...rest} />;
}

interface GraphProps extends Omit<Props, 'watch'> {
  readonly graph: RunGraph;
  readonly forecast: Forecast | undefined;
}

function Graph({ graph: all, forecast, chosen, waiting, names, onState, onAgent }: GraphProps) {
  const [pane, paneSize] = useSize<HTMLElement>();
  const isMeasured = paneSize.width > 0;
  const { graph, ...arrangement } = useArrangement(all, isMeasured ? paneSize : undefined);
  const [heat, setHeat] = useState<Heat>('none');
  const [view, setView] = useState<View>();
  const [words, setWords] = useState('');
  const [isFollowing, setFollowing] = useState(false);
  const { width, height, isAcross } = graph;
  const size = useMemo(() => ({ width, height }), [width, height, isAcross]);
  /** What to show when the places have changed: everything, or this node. */
  const wanted = useRef<'all' | { readonly node: string } | undefined>(undefined);
  // The gestures are bound once, so they read the newest values here.
  const newest = useRef({ size, paneSize });
  newest.current = { size, paneSize };
  const change = useCallback((by: (view: View) => View) => setView((now) => now && by(now)), []);
  const turned = useRef(isAcross);
  useLayoutEffect(() => {
    if (!isMeasured) return;
    const [what, at] = [wanted.current, newest.current.paneSize];
    wanted.current = undefined;
    const rectOfNode = (id: string) => {
      const node = graph.nodes.find((one) => one.id === id);
      return node && rectOf(node);
    };
    const isNew = turned.current !== isAcross;
    turned.current = isAcross;
    setView((now) => {
      if (what === 'all') return fitted(size, at);
      const rect = what && rectOfNode(what.node);
      if (now && rect) return { ...now, x: rect.x + rect.width / 2, y: rect.y + rect.height / 2 };
      return now && !isNew ? now : opened(size, at, rectOfNode(graph.entry), isAcross);
    });
  }, [isMeasured, size]);
  useEffect(() => {
    const element = pane.current;
    if (!element) return;
    gestures(element, {
      move: (dx, dy) => change((now) => moved(now, dx, dy, newest.current.size)),
      zoom: (factor, at) =>
        change((now) => zoomed(now, factor, at, newest.current.size, newest.current.paneSize)),
    });
  }, [pane, change]);
  const zoom = (factor: number) =>
    change((now) => zoomed(now, factor, { x: 0, y: 0 }, size, paneSize));
  const fit = () => {
    setView(fitted(size, paneSize));
    // A name would be too small to read.
    if (fitted(size, paneSize).scale >= FAR_AWAY || !arrangement.canFold) return;
    wanted.current = 'all';
    arrangement.fold(true);
  };
  const reveal = (id: string) => {
    const node = graph.nodes.find((one) => one.id === id);
    if (!node) return;
    change((now) => (isInside(now, paneSize, rectOf(node)) ? now : centred(now, rectOf(node))));
  };
  const agent = chosen.kind === 'agent' ? chosen.agent : undefined;
  const nodeOfAgent = graph.nodes.find(({ agents }) => agents.some(({ id }) => id === agent))?.id;
  useEffect(() => {
    if (isFollowing && nodeOfAgent !== undefined) reveal(nodeOfAgent);
  }, [isFollowing, nodeOfAgent]);
  const found = useMemo(() => nodesWith(graph, words), [graph, words]);
  const [at, setAt] = useState(0);
  /** Shows the next place that has the words. */
  const next = () => {
    const ids = [...found];
    const id = ids[at % ids.length];
    const node = graph.nodes.find((one) => one.id === id);
    if (node) change((now) => centred(now, rectOf(node)));
    setAt(at + 1);
  };
  const isCut = view !== undefined && isMeasured && view.scale > fitted(size, paneSize).scale * 1.1;
  const keys: Readonly<Record<string, () => void>> = {
    '+': () => zoom(STEP),
    '=': () => zoom(STEP),
    '-': () => zoom(1 / STEP),
    '0': fit,
    f: fit,
    ArrowLeft: () => change((now) => moved(now, -PACE, 0, size)),
    ArrowRight: () => change((now) => moved(now, PACE, 0, size)),
    ArrowUp: () => change((now) => moved(now, 0, -PACE, size)),
    ArrowDown: () => change((now) => moved(now, 0, PACE, size)),
  };
  const shown = view && {
    width: paneSize.width / view.scale,
    height: paneSize.height / view.scale,
  };
  return (
    <>
      <div class="view-tools">
        <span class="faint" id="heat">
          Colour by
        </span>
        <fieldset class="segments" aria-labelledby="heat">
          {heatsFor(forecast).map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === heat}
              onClick={() => setHeat(one)}
            >
              {one}
            </button>
          ))}
        </fieldset>
        <form
          class="find"
          onSubmit={(event) => {
            event.preventDefault();
            next();
          }}
        >
          <Search
            placeholder="Find a state or agent"
            label="Find a state or an agent. Enter shows the next one."
            words={words}
            onWords={(text) => {
              setWords(text);
              setAt(0);
            }}
          />
        </form>
        {words !== '' && (
          <span class="faint" role="status">
            {found.size === 0 ? 'none' : `${counted(found.size, 'place')}, Enter shows them`}
          </span>
        )}
        <span class="segments">
          {(arrangement.canFold || arrangement.isFolded) && (
            <button
              type="button"
              aria-pressed={arrangement.isFolded}
              onClick={() => {
                wanted.current = 'all';
                arrangement.fold(arrangement.canFold);
              }}
            >
              {arrangement.canFold ? 'Fold regions' : 'Unfold all'}
            </button>
          )}
          <button
            type="button"
            aria-pressed={isAcross}
            title={isAcross ? 'Draw from top to bottom' : 'Draw from left to right'}
            aria-label="From left to right"
            onClick={arrangement.turn}
          >
            <Icon name={isAcross ? 'across' : 'downward'} />
          </button>
        </span>
        {agent !== undefined && (
          <Check isChecked={isFollowing} onCheck={setFollowing}>
            Follow {oneLine(names.get(agent) ?? agent, 30)}
          </Check>
        )}
      </div>
      <section
        class="graph-pane"
        ref={pane}
        aria-label="Graph of the workflow. Arrow keys move it, plus and minus zoom, 0 shows all."
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the pane scrolls with the keys.
        tabIndex={0}
        onKeyDown={(event) => {
          if (event.ctrlKey || event.metaKey || event.altKey) return;
          const act = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
          if (!act) return;
          act();
          event.preventDefault();
          event.stopPropagation();
        }}
      >
        {view && shown && (
          <svg
            class="graph"
            viewBox={`${view.x - shown.width / 2} ${view.y - shown.height / 2} ${shown.width} ${shown.height}`}
          >
            <title>{graph.name}</title>
            <GraphPicture
              graph={graph}
              heat={heat}
              forecast={forecast}
              chosen={chosen.kind === 'state' ? chosen.state : undefined}
              scale={stepOf(view.scale)}
              found={found}
              onState={onState}
              onFocus={reveal}
              regions={arrangement.regions}
              onFold={(id) => {
                wanted.current = { node: id };
                arrangement.toggle(id);
              }}
            />
            <GraphAgents
              graph={graph}
              waiting={waiting}
              names={names}
              followed={agent}
              onAgent={onAgent}
            />
          </svg>
        )}
      </section>
      {isCut && view && shown && (
        <GraphMap
          graph={graph}
          view={view}
          shown={shown}
          found={found}
          onPlace={(x, y) => change((now) => ({ ...now, x, y }))}
        />
      )}
      <div class="zoom segments">
        <button type="button" aria-label="Zoom out" onClick={() => zoom(1 / STEP)}>
          <Icon name="minus" />
        </button>
        <button type="button" aria-label="Zoom in" onClick={() => zoom(STEP)}>
          <Icon name="plus" />
        </button>
        <button type="button" aria-label="Show the whole graph" onClick={fit}>
          <Icon name="fit" />
        </button>
      </div>
      {graph.elsewhere.length > 0 && (
        <p class="view-tools faint">
          {graph.elsewhere.length} agents are at states that the workflow no longer has.
        </p>
      )}
    </>
  );
}

/** Below this size, not even a name that has grown can be read. */
const FAR_AWAY = 0.3;
/** To place more than these takes too long for a page. */
const MOST_TURNED = 400;

/** Which regions are folded, and the direction. At first, the direction is the one that leaves more room. */
function useArrangement(all: RunGraph, pane: Size | undefined) {
  const [arranger] = useState(() => new Arranger());
  const [folded, setFolded] = useState<ReadonlySet<string>>(NONE);
  const [chosen, setChosen] = useState<boolean>();
  const regions = useMemo(() => regionsOf(all), [all]);
  const canTurn = all.nodes.length <= MOST_TURNED;
  // Not the size of the pane, because a panel that opens should not turn the graph.
  const better = useMemo(() => {
    if (!pane || !canTurn) return false;
    const scaleOf = (isAcross: boolean) =>
      fitted(arranger.shown(all, folded, isAcross), pane).scale;
    const down = scaleOf(false);
    return down < READABLE && scaleOf(true) > down * MUCH_BETTER;
  }, [pane === undefined, canTurn, all.width, all.height, folded]);
  const isAcross = chosen ?? better;
  const graph: ShownGraph = useMemo(
    () => arranger.shown(all, folded, isAcross),
    [all, folded, isAcross],
  );
  const isFolded = folded.size > 0;
  return {
    graph,
    regions,
    isFolded,
    /** Whether something is left to fold. */
    canFold: regions.size > 0 && canTurn && folded.size < regions.size && !isFolded,
    fold: (isWanted: boolean) => setFolded(isWanted ? new Set(regions.keys()) : NONE),
    toggle: (id: string) => {
      const next = new Set(folded);
      if (!next.delete(id)) next.add(id);
      setFolded(next);
    },
    turn: () => setChosen(!isAcross),
  };
}

const MUCH_BETTER = 1.1;

/** Names change their size in steps, so that a small zoom draws nothing again. */
const stepOf = (scale: number) => STEPS.find((one) => scale >= one) ?? 0.1;
const STEPS = [0.62, 0.5, 0.4, 0.32, 0.25, 0.2, 0.15];

function nodesWith({ nodes }: Pick<ShownGraph, 'nodes'>, words: string): ReadonlySet<string> {
  const wanted = words.trim().toLowerCase();
  if (wanted === '') return NONE;
  const has = (text: string) => text.toLowerCase().includes(wanted);
  return new Set(
    nodes.flatMap(({ id, label, agents, inside = [] }) =>
      has(label) || agents.some((agent) => has(agent.id)) || inside.some(has) ? [id] : [],
    ),
  );
}

const NONE: ReadonlySet<string> = new Set();

const STEP = 1.3;
/** A press of an arrow key moves so many pixels. */
const PACE = 80;

function rectOf({ x, y, width, height }: ShownGraph['nodes'][number]) {
  return { x: x - width / 2, y: y - height / 2, width, height };
}
