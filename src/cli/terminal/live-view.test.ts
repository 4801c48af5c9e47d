import { expect, test } from 'vitest';
import { testClock } from '../../../test/journal/test-clock.ts';
import { makeRun } from '../../../test/make-run.ts';
import { type DrawnBlock, redraw } from '../../observe/block.ts';
import { formatLine } from '../../observe/plain.ts';
import { liveView } from './live-view.ts';
import type { Screen } from './terminal.ts';

/** A screen that counts what it gets. */
function countingScreen() {
  let drawn: DrawnBlock | undefined;
  const counts = { frames: 0, bytes: 0, lines: 0, last: '' };
  const draw: Screen['draw'] = (lines, rows, whole) => {
    const looks = { color: false, columns: 80 };
    const above = lines.map((line) => formatLine(line, looks)).join('');
    const { output, drawn: after } = redraw(drawn, { above, rows, whole }, looks);
    drawn = after;
    if (output === '') return;
    counts.frames += 1;
    counts.bytes += output.length;
    counts.lines += lines.length;
    counts.last = output;
  };
  const screen = {
    canRedraw: () => true,
    draw,
    forgetRows: () => {},
    size: () => ({ columns: 80, rows: 24 }),
    onResize: () => () => {},
    say: () => {},
    quote: () => {},
    wrapped: () => [],
    showPage: () => {},
  };
  return { screen, counts };
}

function busyRun(events: number, doing = () => new Map()) {
  const { screen, counts } = countingScreen();
  const { clock, moveTo } = testClock();
  const stage = makeRun({ START: [] });
  const view = liveView({ screen, pace: clock, clock, doing });
  stage.start();
  const [started] = stage.events;
  if (started) view.event(started, undefined, stage.run);
  for (let i = 0; i < events; i++) {
    view.live({ agent: 'main', step: 1 }, { kind: 'text', text: `word ${i}` });
    moveTo((i * 1000) / events);
  }
  for (let at = 1000; at <= 3000; at += 10) moveTo(at);
  return { view, counts, stage };
}

test('the number of frames and bytes depends on the time, not on the number of events', () => {
  const few = busyRun(100);
  const many = busyRun(100_000);
  expect(many.counts.frames).toBeLessThanOrEqual(few.counts.frames + 1);
  expect(many.counts.frames).toBeLessThan(15);
  expect(many.counts.bytes).toBeLessThan(15 * 24 * 80);
});

test('a run in which nothing happens is drawn once a second', () => {
  const { counts } = busyRun(0);
  expect(counts.frames).toBeGreaterThanOrEqual(2);
  expect(counts.frames).toBeLessThanOrEqual(4);
});

test('all lines between two frames are written together, and none is lost at the end', () => {
  const { view, counts } = busyRun(0);
  const before = counts.frames;
  for (let i = 0; i < 1000; i++)
    view.line({ at: 0, who: 'main', tone: 'plain', text: `line ${i}` });
  expect(counts.frames).toBe(before);
  view.close();
  expect(counts).toMatchObject({ frames: before + 1, lines: 1000 });
  expect(counts.last).toMatch(/line 999\n$/);
});

test('after the end, nothing is drawn', () => {
  const { view, counts, stage } = busyRun(0);
  view.close();
  const { frames } = counts;
  const [started] = stage.events;
  if (started) view.event(started, undefined, stage.run);
  view.change();
  expect(counts.frames).toBe(frames);
});
