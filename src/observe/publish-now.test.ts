import { expect, test } from 'vitest';
import { newRun } from '../interpret/new-run.ts';
import type { Now } from '../model/now.ts';
import type { Clock } from '../ports.ts';
import { publishNow } from './publish-now.ts';

const key = { agent: 'main', step: 1 };
const words = (text: string) => ({ kind: 'text', text }) as const;

/** A clock whose callbacks happen only when a test lets time pass. */
function handClock() {
  let now = 1_000;
  const waiting = new Set<{ readonly time: number; readonly callback: () => void }>();
  const clock: Clock = {
    now: () => now,
    at(time, callback) {
      const one = { time, callback };
      waiting.add(one);
      return () => void waiting.delete(one);
    },
  };
  const pass = async (ms: number) => {
    now += ms;
    for (const one of [...waiting].filter(({ time }) => time <= now)) {
      waiting.delete(one);
      one.callback();
    }
    await new Promise(setImmediate);
  };
  return { clock, pass, waits: () => waiting.size };
}

function published(publish: (now: Now) => Promise<void> = async () => {}) {
  const { clock, pass, waits } = handClock();
  const all: Now[] = [];
  const observer = publishNow({
    clock,
    publish: (now) => {
      all.push(now);
      return publish(now);
    },
  });
  const last = () => all.at(-1)?.agents[0]?.words?.text;
  return { observer, pass, waits, all, last };
}

test('many live events give few publications, and the last one counts', async () => {
  const { observer, pass, all, last } = published();
  for (let n = 0; n < 1_000; n += 1) {
    observer.live(key, words(`word ${n}`));
    await pass(1);
  }
  await pass(1_000);
  expect(last()).toBe('word 999');
  expect(all.length).toBeLessThanOrEqual(5);
});

test('nothing is published while nothing changes', async () => {
  const { observer, pass, all, waits } = published();
  observer.live(key, words('one'));
  await pass(0);
  for (let n = 0; n < 20; n += 1) await pass(500);
  observer.event({ type: 'agent-woke', at: 1, agent: 'main' }, undefined, newRun);
  await pass(500);
  expect(all.length).toBe(1);
  expect(waits()).toBe(0);
});

test('a slow publication makes the next ones rarer', async () => {
  let finish = () => {};
  const { observer, pass, all } = published(() => new Promise((resolve) => (finish = resolve)));
  observer.live(key, words('one'));
  await pass(0);
  observer.live(key, words('two'));
  await pass(1_000);
  expect(all.length).toBe(1);
  finish();
  await pass(0);
  await pass(10_000);
  expect(all.length).toBe(1);
  await pass(10_000);
  expect(all.length).toBe(2);
});

test('an error is ignored, and the next change is published', async () => {
  const { observer, pass, all, last } = published(() => Promise.reject(new Error('disk full')));
  observer.live(key, words('one'));
  await pass(0);
  observer.live(key, words('two'));
  await pass(1_000);
  expect(all.length).toBe(2);
  expect(last()).toBe('two');
});

test('after its end an observer publishes nothing more', async () => {
  const { observer, pass, all, waits } = published();
  observer.live(key, words('one'));
  await observer.close?.();
  await pass(1_000);
  expect(all).toEqual([]);
  expect(waits()).toBe(0);
});
