import { expect, test } from 'vitest';
import { gate } from './gate.ts';

test('admits a limited number, and then the others in order', async () => {
  const two = gate(2);
  const inside: string[] = [];
  const enter = async (name: string) => {
    const leave = await two.enter();
    inside.push(name);
    return leave;
  };
  const [a, b] = [await enter('a'), await enter('b')];
  const waiting = [enter('c'), enter('d')];
  await Promise.resolve();
  expect([inside, two.waiting]).toEqual([['a', 'b'], 2]);
  b();
  b();
  const leaveC = await waiting[0];
  expect([inside, two.waiting]).toEqual([['a', 'b', 'c'], 1]);
  a();
  leaveC?.();
  await waiting[1];
  expect(inside).toEqual(['a', 'b', 'c', 'd']);
});

test('counts users that are already inside, even beyond the limit', async () => {
  const one = gate(1);
  const leaves = [one.count(), one.count()];
  let isIn = false;
  const entering = one.enter().then(() => {
    isIn = true;
  });
  leaves[0]?.();
  await Promise.resolve();
  expect(isIn).toBe(false);
  leaves[1]?.();
  await entering;
  expect(isIn).toBe(true);
});

test('reports how many wait when it is full', async () => {
  const counts: number[] = [];
  const one = gate(1, (waiting) => counts.push(waiting));
  const leave = await one.enter();
  void one.enter();
  void one.enter();
  leave();
  expect(counts).toEqual([1, 2]);
});
