import { expect, test } from 'vitest';
import { makeRun } from '../../test/make-run.ts';
import type { JournaledEvent } from '../model/event.ts';
import { FollowedRun } from './followed-run.ts';
import { changes } from './run-changes.ts';
import type { LogLine } from './shapes/changes.ts';

const made = makeRun({ START: [] }, { settings: { maxIterations: 0 } });
while (made.events.length < 800) made.turn('<goto>START</goto>');
const ALL: readonly JournaledEvent[] = made.events.map((event, index) => ({
  ...event,
  seq: index + 1,
}));

async function* noNews() {}

/** A run with some events, to which the test adds more, and the lines of its log. */
async function stage(first: number) {
  const coming = [ALL.slice(0, first)];
  let ring = () => {};
  async function* watch(): AsyncGenerator<JournaledEvent> {
    for (;;) {
      yield* coming.splice(0).flat();
      await new Promise<void>((resolve) => {
        ring = resolve;
      });
    }
  }
  const followed = new FollowedRun({ watch }, 'r');
  await followed.reaches(first);
  const part = async () => undefined as never;
  const find = async () => ({
    ...{ id: 'r', followed, alarmsOf: () => [], key: async () => '', news: noNews },
    parts: { run: part, graph: part, forecast: part },
  });
  const overview = { view: {}, trouble: undefined, onChange: () => () => {} };
  const projects = { view: {}, onChange: () => () => {} };
  const shown = { overview, projects, find, now: () => Date.now() };
  const stream = changes(shown, new AbortController().signal);
  return {
    async add(until: number) {
      coming.push(ALL.slice(followed.run.seq, until));
      ring();
      await followed.reaches(until);
    },
    async lines(): Promise<readonly LogLine[]> {
      const { value } = await stream.next();
      return value.data;
    },
  };
}

const mark = (seq: number, omitted: number) => ({
  ...{ seq, who: 'run', tone: 'faint' },
  text: `${omitted} events before this are not shown. To see all: raymond logs r`,
});

test('a short log is whole', async () => {
  const { lines } = await stage(20);
  expect((await lines())[0]?.seq).toBe(1);
});

test('a log begins with the newest lines, and says what is left out before them', async () => {
  const { lines } = await stage(500);
  const [first, ...rest] = await lines();
  expect(first).toMatchObject(mark(200, 200));
  expect(rest[0]?.seq).toBeGreaterThan(200);
  expect(new Set([first, ...rest].map((line) => line?.seq)).size).toBe(rest.length + 1);
});

test('a reader that falls behind gets the newest lines, and sees the gap', async () => {
  const { add, lines } = await stage(20);
  expect((await lines()).at(-1)?.seq).toBeLessThanOrEqual(20);
  await add(700);
  expect((await lines())[0]).toMatchObject(mark(400, 380));
  await add(750);
  expect((await lines())[0]?.seq).toBeGreaterThan(700);
});
