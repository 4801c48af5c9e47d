import { expect, test } from 'vitest';
import { failed, makeRun, type Stage } from '../../test/make-run.ts';
import { RunHistory } from '../history/run-history.ts';
import type { Span } from '../history/span.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { Run } from '../model/run.ts';
import { visible } from '../model/visible.ts';
import { widthOf } from '../observe/screen.ts';
import { duration, usd } from '../observe/words.ts';
import { svgTimeline, tooLargeTimeline } from './svg-timeline.ts';
import { textTimeline } from './text-timeline.ts';
import { type Timeline, timelineOf } from './timeline.ts';

const FLOW = { START: [], NEXT: [], WORK: [] };

function timelineFor({ events, run }: Stage): Timeline {
  const spans: Span[] = [];
  const history = new RunHistory((span) => spans.push(span));
  let after: Run = newRun;
  for (const event of events) {
    after = apply(after, event);
    history.follow(event, after);
  }
  return timelineOf(run, history, spans, run.updatedAt);
}

function text(timeline: Timeline, columns = 80, isUnicode = true): readonly string[] {
  const time = (ms: number) => `${Math.round((ms - timeline.axis.from) / 1000)} s`;
  const options = { columns, isUnicode, time, duration, width: widthOf };
  return textTimeline(timeline, options).map((row) => row.text);
}

const svg = (timeline: Timeline) =>
  svgTimeline(timeline, { time: (ms) => String(ms), duration, usd });

/** A fork of two children, one of which fails, and a join. */
function crew(): Stage {
  const stage = makeRun(FLOW);
  stage.turn('<fork n="one">WORK</fork><fork n="two">WORK</fork><join>NEXT</join>');
  stage.start('main_work1');
  stage.now += 5_000;
  stage.end('<result>x</result>', 'main_work1');
  stage.turn(failed('refused'), 'main_work2');
  stage.turn('<ask next="START">which?</ask>');
  return stage;
}

test('text has a row for each agent, with steps, waits and ends in proportion', () => {
  expect(text(timelineFor(crew()), 72)).toEqual([
    'AGENT           WORKED  0 s         3 s         6 s        9 s     12 s',
    'main             2.0 s  ┣━━┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄   ┣━━??',
    'main_work1 one   6.0 s         ┣WORK━━━━━━━━━━━━━━━━━━━━✓',
    'main_work2 two   1.0 s                                     ┣WOR━✗',
    '',
    '┣━ a step   ┄ waits for its child agents   ? waits for an answer   ✓ ended   ✗ failed',
  ]);
});

test('without UTF-8 the same rows are ASCII', () => {
  const rows = text(timelineFor(crew()), 72, false);
  for (const row of rows) expect(row).toMatch(/^[\x20-\x7e]*$/);
  expect(rows[1]).toMatch(/^main +2\.0 s +\[==-+ +\[==\?\?$/);
  expect(rows[3]).toMatch(/X$/);
});

test('a long wait for an answer is cut, and the text says so', () => {
  const stage = makeRun(FLOW);
  stage.turn('<ask next="NEXT">which?</ask>');
  stage.now += 8 * 3_600_000;
  const { status } = stage.agent();
  const askedAt = status.kind === 'asking' ? status.askedAt : 0;
  stage.handle({ kind: 'person-answered', at: stage.now, agent: 'main', askedAt, text: 'x' });
  stage.turn('<result>done</result>');
  const rows = text(timelineFor(stage));
  expect(rows[1]).toMatch(/┣START━+\?+┣NEXT━+✓$/);
  expect(rows.at(-1)).toBe('A rest of 8 h 0 min is drawn shorter.');
  // The legend explains only what is drawn.
  for (const sign of (rows.at(-2) ?? '').matchAll(/(?:^| {3})(\S+) /g))
    for (const character of sign[1] ?? '') expect(rows[1]).toContain(character);
  expect(svg(timelineFor(stage))).toContain('nothing ran for 8 h 0 min');
});

/** 200 agents and 1,000 steps. */
function large(): Stage {
  const stage = makeRun(FLOW, { settings: { budgetUsd: 0 } });
  const forks = Array.from({ length: 199 }, (_, n) => `<fork n="${n}">WORK</fork>`).join('');
  stage.turn(`${forks}<goto>NEXT</goto>`);
  for (let round = 0; round < 5; round += 1)
    for (let n = 1; n <= 199; n += 1)
      stage.turn(round === 4 ? '<result>x</result>' : '<goto>WORK</goto>', `main_work${n}`);
  return stage;
}

test('200 agents and 1,000 steps have one row each, no row is too wide, and the SVG stays small', () => {
  const timeline = timelineFor(large());
  expect(timeline.rows.flatMap(({ spans }) => spans).length).toBe(996);
  for (const columns of [60, 80, 140]) {
    const rows = text(timeline, columns);
    expect(rows.length).toBeGreaterThanOrEqual(201);
    expect(Math.max(...rows.slice(0, 201).map((row) => row.length))).toBeLessThanOrEqual(columns);
  }
  const picture = svg(timeline);
  expect(picture.length).toBeLessThan(500_000);
  expect(tooLargeTimeline(timeline)).toBeUndefined();
});

test('a loop of many steps is a few bars, and its failures stay visible', () => {
  const stage = makeRun(FLOW);
  for (let n = 0; n < 3_000; n += 1) stage.turn('<goto>START</goto>');
  stage.turn(failed('crashed'));
  stage.handle({ kind: 'time-came', at: stage.now, agent: 'main' });
  for (let n = 0; n < 3_000; n += 1) stage.turn('<goto>START</goto>');
  const timeline = timelineFor(stage);
  expect(text(timeline)[1]).toContain('✗');
  const picture = svg(timeline);
  expect(picture.length).toBeLessThan(300_000);
  expect(picture).toContain('class="span failed"');
});

test('the SVG shows forks, joins, waits and failures', () => {
  const picture = svg(timelineFor(crew()));
  for (const part of ['class="fork"', 'class="joined"', 'class="wait join"', 'class="span failed"'])
    expect(picture).toContain(part);
  expect(picture).toContain('<text class="end failed"');
  expect(picture).toContain('<text class="end asking"');
});

test('hostile names and values stay text', () => {
  const stage = makeRun(FLOW);
  stage.turn(
    '<fork n="&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#10;]]&gt;">WORK</fork><goto>NEXT</goto>',
  );
  const timeline = timelineFor(stage);
  const evil = {
    ...timeline,
    run: '</title><script>alert(1)</script>\x1b',
    rows: timeline.rows.map((row) => ({
      ...row,
      variables: { n: '<img src=x onerror=alert(1)>\x1b[2J\u202e\n' },
    })),
  };
  const picture = svg(evil);
  expect(picture).not.toMatch(/<script|<img/);
  expect(visible(picture)).toBe(picture);
  expect(
    picture.match(/<(?!\/?(svg|title|desc|style|rect|text|tspan|g|path)\b)[^>]*>/g),
  ).toBeNull();
  for (const row of text(evil)) {
    expect(visible(row)).toBe(row);
    expect(row).not.toContain('\n');
  }
});
