/** Draws the visible part of a timeline. The colours are those of the legend. */
import type { TimelineBar } from '../../src/look/run-shape.ts';
import type { Axis } from '../../src/timeline/axis.ts';
import { clockSeconds, visible } from '../lib/words.ts';

export type BarKind = 'prompt' | 'script' | 'failed' | 'ask' | 'wait' | 'join';

export interface SceneBar {
  readonly bar: TimelineBar;
  readonly kind: BarKind;
  /** From 0 to 1. */
  readonly from: number;
  readonly to: number;
}

export interface Scene {
  readonly rows: readonly {
    readonly agent: string;
    readonly label: string;
    readonly bars: readonly SceneBar[];
  }[];
  readonly axis: Axis;
  /** How far the pane is scrolled. */
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** The width of the names. */
  readonly labels: number;
  readonly marked: { readonly row: number; readonly bar: number } | undefined;
  /** The index of the chosen row, or -1. */
  readonly chosen: number;
}

export const ROW = 24;
const RIGHT = 20;
const SMALLEST = 2;

export function kindOf({ kind, failed, prompt }: TimelineBar): BarKind {
  if (kind === 'work') return failed > 0 ? 'failed' : prompt ? 'prompt' : 'script';
  return kind === 'ask' || kind === 'join' ? kind : 'wait';
}

export function drawTimeline(canvas: HTMLCanvasElement, scene: Scene, legend: Element): void {
  const { width, height, top, rows, labels } = scene;
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext('2d');
  if (!pen) return;
  const colours = coloursOf(legend);
  pen.scale(ratio, ratio);
  pen.font = `12px ${getComputedStyle(canvas).fontFamily}`;
  pen.textBaseline = 'middle';
  const first = Math.max(0, Math.floor(top / ROW) - 1);
  const last = Math.min(rows.length, first + Math.ceil(height / ROW) + 2);
  drawCuts(pen, scene, colours);
  for (let index = first; index < last; index += 1) {
    const row = rows[index];
    if (!row) continue;
    const y = HEAD + index * ROW - top;
    if (index === scene.chosen) {
      pen.fillStyle = colours.chosen;
      pen.fillRect(0, y, width, ROW);
    }
    pen.fillStyle = colours.line;
    pen.fillRect(0, y + ROW - 1, width, 1);
    for (const [at, bar] of row.bars.entries()) drawBar(pen, scene, colours, { index, at, bar, y });
    // A bar that begins before the visible part must not cover the names.
    pen.fillStyle = index === scene.chosen ? colours.chosen : colours.paper;
    pen.fillRect(0, y, labels, ROW - 1);
    pen.fillStyle = colours.text;
    pen.fillText(fitting(pen, row.label, labels - 24), 16, y + ROW / 2);
  }
  drawAxis(pen, scene, colours);
}

const HEAD = ROW;

/** What is under a point of the canvas. */
export function barAt(scene: Scene, x: number, y: number): Scene['marked'] {
  const row = Math.floor((y - HEAD + scene.top) / ROW);
  const bars = scene.rows[row]?.bars;
  if (y < HEAD || !bars) return undefined;
  const bar = bars.findLastIndex((one) => {
    const [left, width] = spanOf(scene, one);
    return x >= left - 2 && x <= left + width + 2;
  });
  return bar < 0 ? undefined : { row, bar };
}

function spanOf({ width, labels }: Scene, { from, to }: SceneBar): readonly [number, number] {
  const whole = Math.max(1, width - labels - RIGHT);
  // What is outside of the visible part is cut, so that a name begins where it can be read.
  const [left, right] = [Math.max(-0.01, from) * whole, Math.min(1.1, to) * whole];
  return [labels + left, Math.max(SMALLEST, right - left)];
}

type Colours = Readonly<Record<BarKind | 'text' | 'faint' | 'line' | 'paper' | 'chosen', string>>;

/** A canvas does not know the variables of the style, so they are read from elements. */
function coloursOf(legend: Element): Colours {
  const swatch = (kind: string) => {
    const element = legend.querySelector(`[data-kind=${kind}]`);
    return element ? getComputedStyle(element).backgroundColor : 'gray';
  };
  const own = getComputedStyle(legend);
  return {
    prompt: swatch('prompt'),
    script: swatch('script'),
    failed: swatch('failed'),
    ask: swatch('ask'),
    wait: swatch('wait'),
    join: swatch('join'),
    text: own.color,
    faint: own.outlineColor,
    line: own.borderTopColor,
    paper: own.backgroundColor,
    chosen: own.textDecorationColor,
  };
}

interface Placed {
  readonly index: number;
  readonly at: number;
  readonly bar: SceneBar;
  readonly y: number;
}

function drawBar(pen: CanvasRenderingContext2D, scene: Scene, colours: Colours, placed: Placed) {
  const { index, at, bar, y } = placed;
  const [left, width] = spanOf(scene, bar);
  if (left > scene.width || left + width < scene.labels) return;
  const isWait = bar.kind === 'ask' || bar.kind === 'wait' || bar.kind === 'join';
  const [top, height] = isWait ? [y + 9, 6] : [y + 4, ROW - 9];
  pen.fillStyle = colours[bar.kind];
  pen.beginPath();
  pen.roundRect(left, top, width, height, Math.min(3, width / 2));
  pen.fill();
  if (scene.marked?.row === index && scene.marked.bar === at) {
    pen.strokeStyle = colours.text;
    pen.lineWidth = 2;
    pen.stroke();
  }
  if (isWait) return;
  // A failed step has a shape, too, not only a colour.
  const isFailed = bar.kind === 'failed';
  if (isFailed && width > 8) drawCross(pen, left + Math.min(10, width / 2), y + ROW / 2 - 0.5);
  const before = isFailed ? 18 : 6;
  if (width < 60) return;
  pen.fillStyle = ON_BAR;
  pen.fillText(
    fitting(pen, visible(bar.bar.state), width - before - 6),
    left + before,
    y + ROW / 2,
  );
}

/** The bars are dark in both themes. */
const ON_BAR = '#fff';

function drawCross(pen: CanvasRenderingContext2D, x: number, y: number): void {
  pen.strokeStyle = ON_BAR;
  pen.lineWidth = 1.5;
  pen.beginPath();
  for (const [dx, dy] of [
    [-3, -3],
    [-3, 3],
  ] as const) {
    pen.moveTo(x + dx, y + dy);
    pen.lineTo(x - dx, y - dy);
  }
  pen.stroke();
}

function drawCuts(pen: CanvasRenderingContext2D, scene: Scene, colours: Colours): void {
  const whole = Math.max(1, scene.width - scene.labels - RIGHT);
  pen.fillStyle = colours.line;
  for (const { from, to } of scene.axis.cuts) {
    const left = scene.labels + scene.axis.place(from) * whole;
    const right = scene.labels + scene.axis.place(to) * whole;
    for (let x = left; x < right; x += 4) pen.fillRect(x, HEAD, 1.5, scene.height);
  }
}

function drawAxis(pen: CanvasRenderingContext2D, scene: Scene, colours: Colours): void {
  const whole = Math.max(1, scene.width - scene.labels - RIGHT);
  pen.fillStyle = colours.paper;
  pen.fillRect(0, 0, scene.width, HEAD);
  pen.fillStyle = colours.line;
  pen.fillRect(0, HEAD - 1, scene.width, 1);
  pen.fillStyle = colours.faint;
  const count = Math.max(1, Math.floor(whole / 130));
  for (let i = 0; i <= count; i += 1) {
    const text = clockSeconds(scene.axis.timeAt(i / count));
    const x = scene.labels + (i / count) * whole;
    const long = pen.measureText(text).width;
    pen.fillText(text, Math.min(x, scene.width - long - 6), HEAD / 2);
  }
}

/** The text, shortened so that it fits. */
function fitting(pen: CanvasRenderingContext2D, text: string, width: number): string {
  if (pen.measureText(text).width <= width) return text;
  let [short, long] = [0, text.length];
  while (short < long) {
    const middle = Math.ceil((short + long) / 2);
    if (pen.measureText(`${text.slice(0, middle)}…`).width <= width) short = middle;
    else long = middle - 1;
  }
  return short > 0 ? `${text.slice(0, short)}…` : '';
}
