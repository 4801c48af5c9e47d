import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Span } from '../history/span.ts';
import { stateNameSchema } from '../model/state-name.ts';
import { Bars } from './bars.ts';

const state = stateNameSchema.parse('START.md');
const spanOf = (agent: string, from: number, to: number, more: Partial<Span> = {}): Span => ({
  ...{ agent, kind: 'work', workflow: '/flow', state, from, to, costUsd: 1, ...more },
});

test('few spans are bars of their own', () => {
  const bars = new Bars(10);
  bars.add(spanOf('main', 0, 5, { step: 1 }));
  bars.add(spanOf('main', 6, 7, { step: 2, end: 'failed' }));
  expect(bars.of('main')).toMatchObject([
    { from: 0, to: 5, parts: 1, step: 1, failed: 0 },
    { from: 6, to: 7, parts: 1, step: 2, failed: 1 },
  ]);
  expect(bars.shortestMs).toBe(0);
  expect(bars.of('other')).toEqual([]);
});

test('many spans become few bars, and nothing is lost', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          agent: fc.constantFrom('a', 'b', 'c'),
          rest: fc.nat(50),
          length: fc.nat(500),
          isFailed: fc.boolean(),
        }),
        { maxLength: 300 },
      ),
      fc.integer({ min: 3, max: 20 }),
      (parts, most) => {
        const bars = new Bars(most);
        const ends = new Map<string, number>();
        for (const { agent, rest, length, isFailed } of parts) {
          const from = (ends.get(agent) ?? 0) + rest;
          ends.set(agent, from + length);
          bars.add(spanOf(agent, from, from + length, isFailed ? { end: 'failed' } : {}));
        }
        const rows = ['a', 'b', 'c'].map((agent) => bars.of(agent));
        const all = rows.flat();
        expect(all.length).toBeLessThanOrEqual(most);
        expect(sum(all.map((bar) => bar.parts))).toBe(parts.length);
        expect(sum(all.map((bar) => bar.costUsd))).toBe(parts.length);
        expect(sum(all.map((bar) => bar.failed))).toBe(
          parts.filter(({ isFailed }) => isFailed).length,
        );
        for (const row of rows)
          for (const [i, bar] of row.entries())
            expect(bar.from).toBeGreaterThanOrEqual(row[i - 1]?.to ?? 0);
      },
    ),
  );
});

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
