import { expect, test } from 'vitest';
import { failed, interrupted, makeRun, type Stage } from '../../test/make-run.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { Run } from '../model/run.ts';
import { RunHistory } from './run-history.ts';
import type { Span } from './span.ts';

/** The history of a stage, and its spans in short: `main work START.md 1`, with the time in seconds. */
function historyOf(stage: Stage, now = stage.run.updatedAt) {
  const spans: Span[] = [];
  const history = new RunHistory((span) => spans.push(span));
  let run: Run = newRun;
  for (const event of stage.events) {
    run = apply(run, event);
    history.follow(event, run);
  }
  const use = history.until(now);
  const short = [...spans, ...use.open].map(({ agent, kind, state, from, to, end = '' }) =>
    `${agent} ${kind} ${state} ${(to - from) / 1000} ${end}`.trim(),
  );
  const states = Object.fromEntries(
    use.states.map(({ state, visits, steps, failures, workedMs, costUsd }) => [
      state,
      [visits, steps, failures, workedMs / 1000, costUsd],
    ]),
  );
  return { history: use, short, states, run };
}

const FLOW = { START: [], NEXT: [], WORK: [] };

test('states have visits, steps, time and cost, in the order of their first visits', () => {
  const stage = makeRun(FLOW);
  stage.turn('<goto>NEXT</goto>', 'main', 0.5);
  stage.turn('<goto>START</goto>', 'main', 0.25);
  stage.turn('<result>done</result>', 'main', 1);
  const { short, states, history, run } = historyOf(stage);
  expect(short).toEqual(['main work START.md 1', 'main work NEXT.md 1', 'main work START.md 1']);
  expect(states).toEqual({ 'START.md': [2, 2, 0, 2, 1.5], 'NEXT.md': [1, 1, 0, 1, 0.25] });
  expect(Object.keys(states)).toEqual(['START.md', 'NEXT.md']);
  expect(history.agents.get('main')?.workedMs).toBe(3_000);
  expect(run.workedMs).toBe(3_000);
});

test('agents are in the order of their creation, with their variables', () => {
  const stage = makeRun(FLOW);
  const forks = ['z', 'a', 'm'].map((name) => `<fork name="${name}">WORK</fork>`).join('');
  stage.turn(`${forks}<goto>NEXT</goto>`);
  const { history } = historyOf(stage);
  expect([...history.agents].map(([id, { variables }]) => [id, variables])).toEqual([
    ['main', {}],
    ['main_work1', { name: 'z' }],
    ['main_work2', { name: 'a' }],
    ['main_work3', { name: 'm' }],
  ]);
});

test('a wait for a person is a separate span, and is not work', () => {
  const stage = makeRun(FLOW);
  stage.turn('<ask next="NEXT">which?</ask>');
  stage.now += 3_600_000;
  const { status } = stage.agent();
  const askedAt = status.kind === 'asking' ? status.askedAt : 0;
  stage.handle({ kind: 'person-answered', at: stage.now, agent: 'main', askedAt, text: 'this' });
  stage.turn('<result>done</result>');
  const { short, history, run } = historyOf(stage);
  expect(short).toEqual(['main work START.md 1', 'main ask START.md 3601', 'main work NEXT.md 1']);
  expect(history.agents.get('main')?.workedMs).toBe(2_000);
  expect(run.workedMs).toBe(2_000);
});

test('a wait for children, a retry and a failure are different spans', () => {
  const stage = makeRun(FLOW);
  stage.turn('<fork>WORK</fork><join>NEXT</join>');
  stage.turn(failed('crashed', 0.5), 'main_work1');
  stage.handle({ kind: 'time-came', at: stage.now, agent: 'main_work1' });
  stage.turn('<result>done</result>', 'main_work1');
  const { short, states } = historyOf(stage);
  expect(short).toEqual([
    'main work START.md 1',
    'main_work1 work WORK.md 1 failed',
    'main_work1 retry WORK.md 1',
    'main_work1 work WORK.md 1',
    'main join START.md 5',
  ]);
  expect(states['WORK.md']).toEqual([1, 2, 1, 2, 0.5]);
});

test('the time between a crash and the resume is not work', () => {
  const stage = makeRun(FLOW);
  stage.start();
  stage.now += 8 * 3_600_000;
  stage.resume();
  stage.end(interrupted());
  stage.turn('<result>done</result>');
  const { short, history, run } = historyOf(stage);
  expect(short).toEqual([
    'main work START.md 0',
    'main work START.md 1 interrupted',
    'main work START.md 1',
  ]);
  expect(history.agents.get('main')?.workedMs).toBe(2_000);
  expect(run.workedMs).toBe(2_000);
});

test('a usage limit is a wait, until it is lifted', () => {
  const stage = makeRun(FLOW);
  stage.turn(failed('usage-limit', 0, { resetsAt: stage.now + 100_000 }));
  stage.handle({ kind: 'usage-limit-over', at: stage.now + 100_000 });
  const { short } = historyOf(stage);
  expect(short).toEqual([
    'main work START.md 1 failed',
    expect.stringMatching(/^main limit START\.md/),
  ]);
});

test('a step that runs counts up to now', () => {
  const stage = makeRun(FLOW);
  stage.start();
  const { history } = historyOf(stage, stage.run.updatedAt + 5_000);
  expect(history.agents.get('main')?.workedMs).toBe(5_000);
});

test('parallel steps count once for the run, and each for its agent', () => {
  const stage = makeRun(FLOW);
  stage.turn('<fork>WORK</fork><fork>WORK</fork><goto>NEXT</goto>');
  for (const id of ['main_work1', 'main_work2']) stage.start(id);
  for (const id of ['main_work1', 'main_work2']) stage.end('<result>x</result>', id);
  const { history, run } = historyOf(stage);
  expect(history.agents.get('main_work1')?.workedMs).toBe(2_000);
  expect(history.agents.get('main_work2')?.workedMs).toBe(2_000);
  expect(run.workedMs).toBe(1_000 + 3_000);
});
