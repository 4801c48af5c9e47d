import { expect, test, vi } from 'vitest';
import { makeRun } from '../../test/make-run.ts';
import { type Change, changed } from '../look/changes.ts';
import { summaryOf } from '../model/run-summary.ts';
import { UserError } from '../model/user-error.ts';
import type { SurveyedRun } from '../ports.ts';
import { Overview } from './overview.ts';
import { changes } from './run-changes.ts';
import { Bell, type ServerEvent } from './sse.ts';

function row(id: string, seq = 1): SurveyedRun {
  const run = { ...summaryOf(makeRun({ START: [] }).run), seq };
  return { kind: 'stored', id, run, owner: undefined, isOwn: true };
}

/** Overview, runs that the test changes, and how often they were listed. */
function stage(...ids: readonly string[]) {
  const at = {
    runs: ids.map((id) => row(id)),
    looks: 0,
    trouble: undefined as Error | undefined,
    /** The store has news. */
    tell: () => {},
  };
  const overview = new Overview({
    project: '/home/me/garden',
    async list() {
      at.looks += 1;
      if (at.trouble) throw at.trouble;
      return { runs: at.runs, total: at.runs.length, lost: new Map(), warnings: [] };
    },
    async *news(_, signal) {
      const bell = new Bell(signal);
      at.tell = bell.ring;
      while (!signal.aborted) {
        await bell.wait();
        yield;
      }
    },
    questions: { in: async () => ({ questions: [], permissions: [] }) },
    now: () => Date.now(),
  });
  const open = (find?: () => Promise<never>) => {
    const over = new AbortController();
    const projects = { view: {}, onChange: () => () => {} };
    const shown = { overview, projects, find, now: () => Date.now() };
    const events = changes(shown, over.signal);
    let view: unknown = {};
    return {
      async next(): Promise<ServerEvent> {
        const { value } = await events.next();
        if (value.event === 'change') view = changed(view, value.data as readonly Change[]);
        return value;
      },
      runs: () => Object.keys((view as { runs: object }).runs),
      async close() {
        over.abort();
        await events.return(undefined);
      },
    };
  };
  return { at, overview, open };
}

test('a page gets the whole once, and then one change for each run that changes', async () => {
  const { at, overview, open } = stage('a', 'constructor', 'c');
  const page = open();
  await page.next();
  expect(page.runs()).toEqual(['a', 'constructor', 'c']);
  at.runs = [row('a'), row('constructor', 2), row('c'), row('d')];
  overview.look();
  expect((await page.next()).data).toEqual([
    [['runs', 'constructor', 'position'], 2],
    [['runs', 'd'], expect.objectContaining({ id: 'd' })],
  ]);
  at.runs = [row('a')];
  overview.look();
  const { data } = await page.next();
  expect(data).toEqual([[['runs', 'constructor']], [['runs', 'c']], [['runs', 'd']]]);
  expect(page.runs()).toEqual(['a']);
  await page.close();
});

test('many pages share one look, and without a page there is none', async () => {
  const { at, open } = stage('a');
  const pages = Array.from({ length: 20 }, () => open());
  await Promise.all(pages.map((page) => page.next()));
  expect(at.looks).toBe(1);
  await Promise.all(pages.map((page) => page.close()));
  expect(at.looks).toBe(1);
});

test('the next page begins with what the last one saw, and gets what has changed since then', async () => {
  const { at, open } = stage('a', 'b');
  const first = open();
  await first.next();
  await first.close();
  at.runs = [row('b'), row('c')];
  const second = open();
  await second.next();
  expect(second.runs()).toEqual(['a', 'b']);
  await second.next();
  expect(second.runs()).toEqual(['b', 'c']);
  expect(at.looks).toBe(2);
  await second.close();
});

test('the store is looked at when it has news, and never otherwise', async () => {
  vi.useFakeTimers();
  try {
    const { at, open } = stage('a');
    const page = open();
    await page.next();
    const next = page.next();
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(at.looks).toBe(1);
    at.runs = [row('a', 2)];
    at.tell();
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await next).data).toEqual([[['runs', 'a', 'position'], 2]]);
    for (let count = 0; count < 100; count++) {
      at.tell();
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(at.looks).toBeLessThanOrEqual(4);
    await page.close();
  } finally {
    vi.useRealTimers();
  }
});

test('runs that cannot be read are a trouble, which the next reading ends', async () => {
  const { at, overview, open } = stage('a');
  at.trouble = new UserError('database', 'The database does not answer.', 'Wait.');
  const page = open();
  expect(await page.next()).toMatchObject({
    event: 'trouble',
    data: { error: { message: 'The database does not answer.' } },
  });
  at.trouble = undefined;
  overview.look();
  expect(await page.next()).toEqual({ event: 'change', data: [] });
  await page.next();
  expect(page.runs()).toEqual(['a']);
  at.trouble = new UserError('database', 'The database does not answer.', 'Wait.');
  overview.look();
  expect((await page.next()).event).toBe('trouble');
  at.trouble = undefined;
  overview.look();
  expect(await page.next()).toEqual({ event: 'change', data: [] });
  await page.close();
});

test('the list does not wait for a run that takes long to read, or that cannot be read', async () => {
  const { overview, open } = stage('a');
  const slow = open(() => new Promise(() => {}));
  expect((await slow.next()).event).toBe('change');
  expect(slow.runs()).toEqual(['a']);
  const missing = open(async () => {
    throw new UserError('no-run', 'This project has no run x.', 'List them.');
  });
  const events = [await missing.next(), await missing.next()].map(({ event }) => event);
  expect(events.sort()).toEqual(['change', 'gone']);
  expect(missing.runs()).toEqual(['a']);
  overview.look();
  await missing.close();
});
