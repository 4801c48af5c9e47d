import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { TimelineBar, WholeRun } from '../../src/look/run-shape.ts';
import { axisWithCuts } from '../../src/timeline/axis.ts';
import { useMedia, useSize } from '../lib/hooks.ts';
import { clock, costText, counted, duration, msOf, visible } from '../lib/words.ts';
import { agentTold } from '../stores/agents.ts';
import type { Chosen } from '../stores/route.ts';
import { THEME_CHANGED } from '../stores/theme.ts';
import {
  movedBy,
  movedTo,
  ORDERS,
  type Order,
  orderedRows,
  orderNamed,
  WHOLE,
  zoomedAxis,
  zoomedBy,
} from '../stores/timeline.ts';
import { Icon } from './icons.tsx';
import { type BarKind, barAt, drawTimeline, kindOf, ROW, type Scene } from './timeline-canvas.ts';

interface Props {
  readonly run: WholeRun;
  readonly chosen: Chosen;
  readonly onStep: (agent: string, step?: number) => void;
}

interface Place {
  readonly row: number;
  readonly bar: number;
}

/** A canvas as large as the pane. It draws only the rows that are visible. */
export function TimelineView({ run, chosen, onStep }: Props) {
  const { timeline } = run;
  const [pane, size] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const legend = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [place, setPlace] = useState<Place>();
  const [theme, setTheme] = useState(0);
  const isDark = useMedia('(prefers-color-scheme: dark)');
  const isNarrow = useMedia('(max-width: 760px)');
  useEffect(() => {
    const change = () => setTheme((now) => now + 1);
    document.addEventListener(THEME_CHANGED, change);
    return () => document.removeEventListener(THEME_CHANGED, change);
  }, []);
  const [zoom, setZoom] = useState(WHOLE);
  const [order, setOrder] = useState<Order>('creation');
  const axis = useMemo(
    () =>
      zoomedAxis(
        axisWithCuts(
          msOf(timeline.from),
          msOf(timeline.to),
          timeline.cuts.map(({ from, to }) => ({ from: msOf(from), to: msOf(to) })),
        ),
        zoom,
      ),
    [timeline, zoom],
  );
  const rows = useMemo(
    () =>
      orderedRows(run, order).map(({ agent, label, bars }) => ({
        agent,
        label,
        bars: bars.map((bar) => ({
          bar,
          kind: kindOf(bar),
          from: axis.place(msOf(bar.from)),
          to: axis.place(msOf(bar.to)),
        })),
      })),
    [timeline, axis, order],
  );
  const chosenAgent = chosen.kind === 'agent' ? chosen.agent : undefined;
  const scene: Scene = {
    ...{ rows, axis, top, width: size.width, height: size.height },
    labels: isNarrow ? 84 : 150,
    marked: place,
    chosen: rows.findIndex(({ agent }) => agent === chosenAgent),
  };
  // The colours depend on the theme.
  useLayoutEffect(() => {
    if (canvas.current && legend.current) drawTimeline(canvas.current, scene, legend.current);
  }, [rows, axis, top, size, place, theme, isDark, chosenAgent]);
  const found = place && rows[place.row]?.bars[place.bar]?.bar;
  const open = () => {
    const agent = place && rows[place.row]?.agent;
    if (agent !== undefined) onStep(agent, found?.step ?? undefined);
  };
  const step = (row: number, bar: number) => {
    const nextRow = clamp((place?.row ?? -1) + row, rows.length);
    const bars = rows[nextRow]?.bars.length ?? 0;
    const nextBar = row === 0 ? clamp((place?.bar ?? -1) + bar, bars) : Math.max(0, bars - 1);
    setPlace({ row: nextRow, bar: nextBar });
    const y = nextRow * ROW;
    if (pane.current && (y < top || y > top + size.height - 3 * ROW))
      pane.current.scrollTop = Math.max(0, y - size.height / 2);
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowUp: () => step(-1, 0),
    ArrowDown: () => step(1, 0),
    ArrowLeft: () => step(0, -1),
    ArrowRight: () => step(0, 1),
    Enter: open,
    '+': () => setZoom(zoomedBy(zoom, STEP)),
    '=': () => setZoom(zoomedBy(zoom, STEP)),
    '-': () => setZoom(zoomedBy(zoom, 1 / STEP)),
    '0': () => setZoom(WHOLE),
  };
  /** Ctrl and the wheel zoom at the pointer, and a sideways wheel moves. */
  const wheel = (event: WheelEvent) => {
    const room = Math.max(1, size.width - scene.labels);
    const at = Math.max(0, Math.min(1, (event.offsetX - scene.labels) / room));
    if (event.ctrlKey || event.metaKey)
      setZoom(zoomedBy(zoom, event.deltaY < 0 ? STEP : 1 / STEP, at));
    else if (zoom !== WHOLE && Math.abs(event.deltaX) > Math.abs(event.deltaY))
      setZoom(movedBy(zoom, event.deltaX / room));
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div class="view-tools legend" ref={legend}>
        {LEGEND.map(([kind, text]) => (
          <span key={kind} class="key">
            <i class={`swatch ${kind}`} data-kind={kind} />
            {text}
          </span>
        ))}
        <span class="grow" />
        <select
          class="input choice"
          aria-label="Order of the agents"
          value={order}
          onChange={(event) => setOrder(orderNamed(event.currentTarget.value))}
        >
          {ORDERS.map(([one, name]) => (
            <option key={one} value={one}>
              {name}
            </option>
          ))}
        </select>
        <div class="segments">
          <button
            type="button"
            aria-label="Zoom out"
            disabled={zoom === WHOLE}
            onClick={() => setZoom(zoomedBy(zoom, 1 / STEP))}
          >
            <Icon name="minus" />
          </button>
          <button type="button" aria-label="Zoom in" onClick={() => setZoom(zoomedBy(zoom, STEP))}>
            <Icon name="plus" />
          </button>
          <button
            type="button"
            aria-label="Show the whole time"
            disabled={zoom === WHOLE}
            onClick={() => setZoom(WHOLE)}
          >
            <Icon name="fit" />
          </button>
        </div>
        {zoom !== WHOLE && (
          <input
            type="range"
            class="pan"
            aria-label="Part of the time"
            min="0"
            max="1000"
            value={Math.round((zoom.from / (1 - (zoom.to - zoom.from))) * 1000)}
            onInput={(event) => setZoom(movedTo(zoom, Number(event.currentTarget.value) / 1000))}
          />
        )}
        {timeline.shortest_ms > 0 && (
          <span class="faint">Steps under {duration(timeline.shortest_ms)} are merged.</span>
        )}
      </div>
      <div
        class="scroll timeline"
        ref={pane}
        role="application"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys choose a step in it.
        tabIndex={0}
        aria-label={`Timeline of ${counted(rows.length, 'agent')}. Arrow keys choose a step, Enter opens it, plus and minus zoom.`}
        aria-describedby="timeline-step"
        onKeyDown={(event) => {
          const act = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
          if (!act) return;
          act();
          event.preventDefault();
        }}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      >
        <div style={{ height: `${rows.length * ROW + 2 * ROW}px` }}>
          <canvas
            ref={canvas}
            onWheel={wheel}
            onMouseMove={(event) => setPlace(barAt(scene, event.offsetX, event.offsetY))}
            onMouseLeave={() => setPlace(undefined)}
            onClick={open}
          />
        </div>
      </div>
      <p class="view-tools told" id="timeline-step" role="status">
        {place && found
          ? barText(run, rows[place.row]?.agent ?? '', found)
          : 'Choose a bar to see its step.'}
      </p>
    </>
  );
}

const STEP = 1.6;

const clamp = (value: number, length: number) => Math.max(0, Math.min(length - 1, value));

const LEGEND: readonly (readonly [BarKind, string])[] = [
  ['prompt', 'prompt'],
  ['script', 'script'],
  ['failed', 'failed step'],
  ['ask', 'waits for a person'],
  ['wait', 'waits to retry, or for a limit'],
  ['join', 'waits for child agents'],
];

/** Why an agent waits, as far as it still does. */
function reasonOf({ agents, pid }: WholeRun, agent: string, bar: TimelineBar): readonly string[] {
  const found = agents.find(({ id }) => id === agent);
  if (!bar.open || bar.kind === 'work' || !found) return [];
  return [agentTold(found, Date.now(), pid !== null)];
}

function barText(run: WholeRun, agent: string, bar: TimelineBar): string {
  const length = duration(msOf(bar.to) - msOf(bar.from));
  const what =
    bar.parts > 1
      ? `${bar.parts} parts, most in ${visible(bar.state)}`
      : bar.step === null
        ? `${WAITS[bar.kind]} in ${visible(bar.state)}`
        : `step ${bar.step}, ${visible(bar.state)}`;
  const parts = [
    visible(agent),
    what,
    `${clock(bar.from, Date.now())}, ${length}`,
    ...(bar.cost_usd > 0 ? [costText(bar)] : []),
    ...(bar.failed > 0 ? [`${bar.failed} failed`] : []),
    ...(bar.open ? ['not over yet'] : []),
    ...reasonOf(run, agent, bar),
  ];
  return parts.join(' · ');
}

const WAITS: Readonly<Record<TimelineBar['kind'], string>> = {
  work: 'works',
  retry: 'waits to retry',
  limit: 'waits for the usage limit',
  ask: 'waits for a person',
  join: 'waits for child agents',
};
