import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sharedBudget } from './shared-budget.ts';

test('a run that needs more than is free waits until others give back', async () => {
  const money = sharedBudget(1);
  expect(await money.take(0.6, 0.6)).toBe(0.6);
  const second = money.take(0.6, 0.6);
  money.give(0.6, 0.1);
  expect(await second).toBe(0.6);
  money.give(0.6, 0.6);
  // 0.3 are left, and no run can give more back.
  expect(await money.take(0.6, 0.6)).toBeUndefined();
  expect(await money.take(0.6, 0.01)).toBeCloseTo(0.3, 9);
});

test('runs that began earlier have their budget first', async () => {
  const money = sharedBudget(1);
  money.hold(0.7);
  const next = money.take(0.5, 0.5);
  money.give(0.7, 0.2);
  expect(await next).toBe(0.5);
});

test('without a total, each run has what is wanted, and 0 is unlimited', async () => {
  const money = sharedBudget(undefined);
  expect(await money.take(0, 0.01)).toBe(0);
  expect(await money.take(5, 5)).toBe(5);
});

test('all reservations together never exceed the total, whatever the order', async () => {
  const run = fc.record({
    wanted: fc.integer({ min: 1, max: 50 }),
    spent: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 100 }),
      fc.array(run, { maxLength: 30 }),
      async (total, runs) => {
        const money = sharedBudget(total);
        let reserved = 0;
        let spentSoFar = 0;
        await Promise.all(
          runs.map(async ({ wanted, spent }) => {
            const usd = await money.take(wanted, 1);
            if (usd === undefined) return;
            reserved += usd;
            expect(reserved + spentSoFar).toBeLessThanOrEqual(total + 1e-6);
            await Promise.resolve();
            reserved -= usd;
            spentSoFar += usd * spent;
            money.give(usd, usd * spent);
          }),
        );
        expect(spentSoFar).toBeLessThanOrEqual(total + 1e-6);
      },
    ),
  );
});
