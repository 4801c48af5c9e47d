import { expect, test } from 'vitest';
import { failed, makeRun, type Stage } from '../../test/make-run.ts';
import { RunHistory } from '../history/run-history.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { Run } from '../model/run.ts';
import { Bars } from '../timeline/bars.ts';
import { wholeForm } from './run-form.ts';
import { wholeRun } from './run-shape.ts';

function formOf({ events, run }: Stage, at = run.updatedAt) {
  const bars = new Bars();
  const history = new RunHistory((span) => bars.add(span));
  let after: Run = newRun;
  for (const event of events) {
    after = apply(after, event);
    history.follow(event, after);
  }
  const found = { kind: 'stored', id: run.id, run, isOwn: true, owner: undefined } as const;
  const seen = { questions: [], requests: [], now: undefined, at };
  return wholeRun.parse(wholeForm({ found, history, bars, ...seen }));
}

/** Four children: one failed, one asks, one works, one has ended. */
function crew(): Stage {
  const stage = makeRun({ START: [], WORK: [], NEXT: [] });
  stage.turn(`${'<fork>WORK</fork>'.repeat(4)}<join>NEXT</join>`, 'main', 0.1);
  stage.turn(failed('refused'), 'main_work1');
  stage.turn('<ask next="NEXT">which?</ask>', 'main_work2');
  stage.turn('<result>fixed</result>', 'main_work3', 0.01);
  stage.start('main_work4');
  return stage;
}

test('the agents are in the order of their creation, each with the data of its status', () => {
  const { agents } = formOf(crew());
  expect(agents.map(({ id, status }) => [id, status])).toMatchObject([
    ['main', { kind: 'joining', open: 2 }],
    ['main_work1', { kind: 'failed', joined: false }],
    ['main_work2', { kind: 'asking', question: 'which?', answered: false }],
    ['main_work3', { kind: 'ended', result: { text: 'fixed', omitted: 0 } }],
    ['main_work4', { kind: 'running', step: 1, prompt: true, requests: [] }],
  ]);
});

test('states have visits, steps, time and cost', () => {
  expect(formOf(crew()).states).toMatchObject([
    { state: 'START.md', visits: 1, steps: 1, worked_ms: 1000, cost_usd: 0.1 },
    { state: 'WORK.md', visits: 4, steps: 4, failures: 1 },
  ]);
});

test('steps that are not over count up to a time', () => {
  const stage = crew();
  const [before, after] = [formOf(stage), formOf(stage, stage.run.updatedAt + 5_000)];
  const worked = ({ agents }: typeof before) => agents.at(-1)?.worked_ms ?? 0;
  expect(worked(after) - worked(before)).toBe(5_000);
  expect((after.states[1]?.worked_ms ?? 0) - (before.states[1]?.worked_ms ?? 0)).toBe(5_000);
  expect(after.timeline.rows.at(-1)?.bars.at(-1)).toMatchObject({ kind: 'work', open: true });
});
