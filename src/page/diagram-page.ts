/**
 * The script of the page of a diagram: moves, zooms, fits and searches. It reads texts of the page,
 * and never turns a text into an element. So everything that a workflow says stays text.
 */
import { gestures } from './gestures.ts';
import { found } from './search.ts';
import { centred, fitted, isInside, moved, opened, type Rect, type View, zoomed } from './view.ts';

const pane = document.querySelector('main');
const drawing = document.querySelector<SVGSVGElement>('svg.drawing');
const input = document.querySelector<HTMLInputElement>('.tools input');
const output = document.querySelector('.tools output');
if (pane && drawing && input && output) start(pane, drawing, input, output);

function start(
  pane: HTMLElement,
  drawing: SVGSVGElement,
  input: HTMLInputElement,
  output: Element,
): void {
  document.documentElement.classList.add('live');
  const { width, height } = drawing.viewBox.baseVal;
  const size = { width, height };
  const paneSize = () => ({ width: pane.clientWidth, height: pane.clientHeight });
  const entry = rectOf(drawing.querySelector('.node:has(.entry)'));

  let view: View = opened(size, paneSize(), entry);
  const show = (next: View) => {
    view = next;
    const { width, height } = paneSize();
    const [shownWidth, shownHeight] = [width / view.scale, height / view.scale];
    const corner = [view.x - shownWidth / 2, view.y - shownHeight / 2];
    drawing.setAttribute('viewBox', [...corner, shownWidth, shownHeight].join(' '));
  };
  const fit = () => show(fitted(size, paneSize()));
  const move = (dx: number, dy: number) => show(moved(view, dx, dy, size));
  const zoom = (factor: number, at = { x: 0, y: 0 }) =>
    show(zoomed(view, factor, at, size, paneSize()));
  const reveal = (node: Element | null) => {
    const rect = rectOf(node);
    if (rect && !isInside(view, paneSize(), rect)) show(centred(view, rect));
  };

  show(view);
  new ResizeObserver(() => show(view)).observe(pane);
  gestures(pane, { move, zoom });
  addEventListener('beforeprint', fit);
  addEventListener('hashchange', () => reveal(nodeOf(drawing, location.hash)));
  drawing.addEventListener('focusin', ({ target }) => {
    if (target instanceof SVGElement) reveal(target.querySelector('.node'));
  });
  const acts: Readonly<Record<string, () => void>> = {
    in: () => zoom(STEP),
    out: () => zoom(1 / STEP),
    fit,
  };
  for (const button of document.querySelectorAll<HTMLButtonElement>('.tools button')) {
    button.addEventListener('click', acts[button.value] ?? fit);
  }
  const keys: Readonly<Record<string, () => void>> = {
    '+': () => zoom(STEP),
    '=': () => zoom(STEP),
    '-': () => zoom(1 / STEP),
    '0': fit,
    ArrowLeft: () => move(-PACE, 0),
    ArrowRight: () => move(PACE, 0),
    ArrowUp: () => move(0, -PACE),
    ArrowDown: () => move(0, PACE),
  };
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === input) return;
    const isInPane = event.target instanceof Node && pane.contains(event.target);
    const act = Object.hasOwn(keys, event.key) && isInPane ? keys[event.key] : undefined;
    if (event.key === '/') input.focus();
    else if (act) act();
    else return;
    event.preventDefault();
  });
  startSearch(drawing, input, output, (rect) => show(centred(view, rect)));
}

const STEP = 1.3;
/** A press of an arrow key moves so many pixels. */
const PACE = 80;

function startSearch(
  drawing: SVGSVGElement,
  input: HTMLInputElement,
  output: Element,
  goTo: (rect: Rect) => void,
): void {
  const states = [...document.querySelectorAll('aside section')].map((section) => ({
    hash: `#${section.id}`,
    name: section.querySelector('h2')?.textContent?.toLowerCase() ?? '',
    text: section.textContent?.toLowerCase() ?? '',
  }));
  let at = 0;
  const showFound = () => {
    const all = found(states, input.value);
    const chosen = all[((at % all.length) + all.length) % all.length];
    for (const node of drawing.querySelectorAll('.found')) node.classList.remove('found');
    const node = chosen && nodeOf(drawing, chosen.hash);
    node?.classList.add('found');
    const rect = rectOf(node ?? null);
    if (rect) goTo(rect);
    const isEmpty = input.value.trim() === '';
    output.textContent = chosen
      ? `${all.indexOf(chosen) + 1} of ${all.length}`
      : isEmpty
        ? ''
        : 'none';
    return chosen;
  };
  input.addEventListener('input', () => {
    at = 0;
    showFound();
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      input.value = '';
      showFound();
    }
    if (event.key !== 'Enter') return;
    const current = showFound();
    // The first press chooses what is shown, and the next one the following state.
    if (current && location.hash === current.hash) at += event.shiftKey ? -1 : 1;
    const next = showFound();
    if (next) location.hash = next.hash;
    // A browser takes the focus away when the hash changes.
    input.focus({ preventScroll: true });
  });
}

/** The node of a state, by the hash of its section. */
function nodeOf(drawing: SVGSVGElement, hash: string): Element | null {
  const index = /^#state-(\d+)$/.exec(hash)?.[1];
  return index ? drawing.querySelector(`.node.is-${index}:not(.reference)`) : null;
}

function rectOf(node: Element | null): Rect | undefined {
  return node instanceof SVGGraphicsElement ? node.getBBox() : undefined;
}
