import { expect, test } from 'vitest';
import { makeRun } from '../../test/make-run.ts';
import { rewindStage } from '../../test/rewound-run.ts';
import { overlayOf } from '../graph/overlay.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { RunEvent } from '../model/event.ts';
import { type Played, play, type Script } from '../testing.ts';
import {
  forecastOf,
  forecastSchema,
  meanOverlay,
  remainderOf,
  remainderSchema,
  usualTurnCosts,
} from './forecast.ts';
import { PastReader, type PastRun, pastRunSchema } from './past-run.ts';
import { spreadOf } from './spread.ts';

test.each([
  [[], { low: 0, median: 0, high: 0 }],
  [[4], { low: 4, median: 4, high: 4 }],
  [[3, 1], { low: 1.5, median: 2, high: 2.5 }],
  [[5, 1, 2, 4, 3], { low: 2, median: 3, high: 4 }],
])('the spread of %j', (values, expected) => expect(spreadOf(values)).toEqual(expected));

/** Reads the events up to the first one that `isLast` accepts. */
function readTo({ events }: Pick<Played, 'events'>, isLast?: (event: RunEvent) => boolean) {
  const reader = new PastReader();
  let run = newRun;
  for (const event of events) {
    const before = run;
    run = apply(run, event);
    reader.follow(event, before, run);
    if (isLast?.(event)) break;
  }
  return { reader, run };
}

const played = (script: Script) => play(script, { settings: { budgetUsd: 0 } });

async function past(script: Script): Promise<PastRun> {
  const { reader, run } = readTo(await played(script));
  const kept = reader.past(run, (files) => JSON.stringify(files));
  expect(pastRunSchema.parse(JSON.parse(JSON.stringify(kept)))).toEqual(kept);
  return kept;
}

const costs = ({ places }: PastRun) =>
  Object.fromEntries(
    places.map(([place, costUsd]) => [JSON.parse(place).slice(1).join('<'), costUsd]),
  );

const paid = (text: string, costUsd: number) => ({ text, costUsd });

/** START, some tries of WORK, END. */
const loop = (...tries: readonly number[]): Script => ({
  START: [paid('<goto>WORK</goto>', 1)],
  WORK: tries.map((usd, i) => paid(`<goto>${i < tries.length - 1 ? 'WORK' : 'END'}</goto>`, usd)),
  END: [paid('<result>x</result>', 0.5)],
});

test('the cost after a place is that of all later steps; several entries give their mean', async () => {
  expect(costs(await past(loop(2)))).toEqual({ 'START.md': 3.5, 'WORK.md': 2.5, 'END.md': 0.5 });
  // 4.5 after the first entry, 2.5 after the second one.
  expect(costs(await past(loop(2, 2)))).toMatchObject({ 'START.md': 5.5, 'WORK.md': 3.5 });
});

test('children belong to the place that forks them, and to no later place of their parent', async () => {
  const kept = await past({
    START: [paid('<fork next="WAIT">W</fork><fork>W</fork>', 1)],
    W: () => paid('<result>w</result>', 10),
    WAIT: [paid('<join>END</join>', 2)],
    END: [paid('<result>x</result>', 3)],
  });
  expect(costs(kept)).toEqual({ 'START.md': 26, 'W.md': 10, 'WAIT.md': 5, 'END.md': 3 });
});

test('a function that two states call is two places', async () => {
  const kept = await past({
    START: [paid('<call return="B">TALK</call>', 1)],
    B: [paid('<call return="C">TALK</call>', 1)],
    C: [paid('<result>x</result>', 4)],
    TALK: () => paid('<result>t</result>', 10),
  });
  expect(costs(kept)).toMatchObject({ 'TALK.md<B.md': 25, 'TALK.md<C.md': 14 });
});

test('a forecast needs three runs, and says how many it has', async () => {
  const one = await past(loop(2));
  for (const runs of [0, 1, 2]) {
    const pasts = Array.from({ length: runs }, () => one);
    expect(forecastOf(pasts)).toMatchObject({ runs, needed: 3, run: null });
    const { reader, run } = readTo(await played(loop(2)), ({ type }) => type === 'step-started');
    expect(remainderOf(run, reader.places.standing(run), pasts)).toEqual({
      kind: 'unknown',
      runs,
      needed: 3,
    });
  }
});

test('the figures of states and ways are medians and means over runs', async () => {
  const pasts = [await past(loop(1)), await past(loop(2)), await past(loop(3, 3))];
  const forecast = forecastOf(pasts);
  expect(forecastSchema.parse(JSON.parse(JSON.stringify(forecast)))).toEqual(forecast);
  expect(forecast.run?.cost_usd).toEqual({ low: 3, median: 3.5, high: 5.5 });
  const work = forecast.states.find(({ node }) => node === 'state:WORK.md');
  expect(work).toMatchObject({ runs: 3, visits: { median: 1 }, cost_usd: { median: 2 } });
  expect(work?.mean).toMatchObject({ visits: 4 / 3, cost_usd: 3 });
  const again = forecast.ways.find(({ from, to }) => from === to);
  expect(again).toEqual({
    from: 'state:WORK.md',
    to: 'state:WORK.md',
    role: 'go',
    runs: 1,
    mean: 1 / 3,
  });
});

test('the mean of equal runs is the overlay of one', async () => {
  const script: Script = {
    START: [paid('<call return="END">A</call>', 1)],
    A: [paid('<result>a</result>', 1)],
    END: [paid('<result>x</result>', 1)],
  };
  const done = await played(script);
  const one = await past(script);
  const own = overlayOf(done.events);
  const mean = meanOverlay([one, one, one]);
  expect(mean.edges).toEqual(own.edges);
  expect(mean.returns).toEqual(own.returns);
  expect([...mean.nodes.keys()]).toEqual([...own.nodes.keys()]);
});

const isStartOf = (state: string) => (event: RunEvent) =>
  event.type === 'step-started' && event.state === state;

test('the rest falls while a run works, and its used part is subtracted', async () => {
  const pasts = [await past(loop(1)), await past(loop(2)), await past(loop(3))];
  const done = await played(loop(2));
  const leftAt = (isLast: (event: RunEvent) => boolean) => {
    const { reader, run } = readTo(done, isLast);
    const left = remainderOf(run, reader.places.standing(run), pasts);
    expect(remainderSchema.parse(left)).toEqual(left);
    return left.kind === 'known' ? left.cost_usd.median : left;
  };
  expect(leftAt(isStartOf('START.md'))).toBe(3.5);
  expect(leftAt(({ type }) => type === 'step-ended')).toBe(2.5);
  expect(leftAt(isStartOf('WORK.md'))).toBe(2.5);
  expect(leftAt(isStartOf('END.md'))).toBe(0.5);
});

test('the costs of agents are added, and the longest time counts', async () => {
  const script: Script = {
    START: [paid('<fork next="END">W</fork><fork>W</fork>', 1)],
    W: () => paid('<result>w</result>', 10),
    END: [paid('<result>x</result>', 3)],
  };
  const one = await past(script);
  const { reader, run } = readTo(await played(script), ({ type }) => type === 'agent-moved');
  const left = remainderOf(run, reader.places.standing(run), [one, one, one]);
  const times = one.places.filter(([place]) => !place.includes('START')).map((place) => place[2]);
  expect(left).toMatchObject({
    kind: 'known',
    runs: 3,
    cost_usd: { median: 23 },
    time_ms: { median: Math.max(...times) },
  });
});

test('an agent at a state that no finished run has visited has no forecast, and the state is named', async () => {
  const one = await past(loop(2));
  const { reader, run } = readTo(
    await played({ START: ['<goto>OTHER</goto>'], OTHER: ['<result>x</result>'] }),
    isStartOf('OTHER.md'),
  );
  expect(remainderOf(run, reader.places.standing(run), [one, one, one])).toEqual({
    kind: 'unknown',
    runs: 0,
    needed: 3,
    state: 'OTHER.md',
  });
});

test('a run that used two versions of its workflow has no version', async () => {
  const done = await played(loop(2));
  const version = (...changes: readonly Readonly<Record<string, string>>[]) => {
    const reader = new PastReader();
    let run = newRun;
    for (const event of done.events) {
      const before = run;
      run = apply(run, event);
      reader.follow(event, before, run);
    }
    for (const files of changes)
      reader.follow({ type: 'workflow-read', at: 1, workflow: run.workflow, files }, run, run);
    return reader.past(run, (files) => JSON.stringify(files)).version;
  };
  expect(version({ b: '1', a: '1' }, { a: '1', b: '1' })).toBe('{"a":"1","b":"1"}');
  expect(version({ a: '1' }, { a: '2' })).toBeUndefined();
  expect(version()).toBeUndefined();
});

test('after a rewind, an agent stands at its earlier place and has used nothing there', () => {
  const stage = makeRun({ START: [], WORK: [], NEXT: [] });
  stage.turn('<goto>WORK</goto>', 'main', 1);
  stage.turn('<goto>NEXT</goto>', 'main', 2);
  rewindStage(stage, { kind: 'to', agent: 'main', step: 2 });
  const { reader, run } = readTo(stage);
  expect(reader.places.standing(run)).toMatchObject([
    { place: '["","WORK.md"]', since: { costUsd: 0, timeMs: 0 } },
  ]);
});

test('the usual cost of a turn is the median over the runs, for each state that costs something', async () => {
  const pasts = [await past(loop(1)), await past(loop(2)), await past(loop(3, 5))];
  expect(usualTurnCosts(pasts)).toEqual({ 'START.md': 1, 'WORK.md': 2, 'END.md': 0.5 });
  expect(usualTurnCosts([])).toEqual({});
});
