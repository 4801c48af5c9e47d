import { expect, test } from 'vitest';
import { Refresher } from './refresher.ts';

function stage() {
  let [now, reads] = [0, 0];
  let finish: () => void = () => {};
  const timers: { act: () => void; ms: number }[] = [];
  const refresher = new Refresher(
    () => {
      reads += 1;
      return new Promise((resolve) => {
        finish = resolve;
      });
    },
    {
      now: () => now,
      set: (act, ms) => timers.push({ act, ms }),
      clear: () => timers.splice(0),
    },
  );
  return {
    refresher,
    reads: () => reads,
    pauses: () => timers.map(({ ms }) => ms),
    async finish(after: number) {
      now += after;
      finish();
      await Promise.resolve();
      await Promise.resolve();
    },
    wake: () => timers.shift()?.act(),
  };
}

test('many changes during a reading cause one more', async () => {
  const { refresher, reads, finish, wake } = stage();
  for (let i = 0; i < 10; i += 1) refresher.want();
  expect(reads()).toBe(1);
  await finish(1);
  expect(reads()).toBe(1);
  wake();
  expect(reads()).toBe(2);
  await finish(1);
  wake();
  expect(reads()).toBe(2);
});

test('the pause grows with the time of a reading', async () => {
  const { refresher, finish, pauses } = stage();
  refresher.want();
  await finish(1_000);
  expect(pauses()).toEqual([5_000]);
});

test('nothing is read after the end', async () => {
  const { refresher, reads, finish, wake } = stage();
  refresher.want();
  refresher.want();
  refresher.end();
  await finish(1);
  wake();
  refresher.want();
  expect(reads()).toBe(1);
});
