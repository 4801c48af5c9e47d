/** The rules of every ledger of occasions. Each check gets two processes with the same ledger. */
import { expect } from 'vitest';
import type { Occasion, TriggerKey } from '../../src/model/trigger.ts';
import type { Occasions } from '../../src/ports.ts';
import { occasionOf } from '../../src/triggers/occasion.ts';
import { eventually } from '../eventually.ts';

export interface LedgerUnderTest {
  readonly one: Occasions;
  readonly other: Occasions;
}

export const KEY: TriggerKey = { project: '/a b/ü', workflow: '/a b/ü/flow', name: 'webhook in' };
const ELSEWHERE: TriggerKey = { ...KEY, project: '/other' };

/** How many final occasions the ledgers keep. */
export const KEPT = 20;

export const delivery = (id: string, at = 1, key = KEY): Occasion =>
  occasionOf(key, 'flow', { kind: 'webhook', delivery: id }, at);

export const LEDGER_CHECKS: readonly {
  readonly name: string;
  holds(ledgers: LedgerUnderTest): Promise<void>;
}[] = [
  {
    name: 'a record is found by everyone, with its payload',
    async holds({ one, other }) {
      const occasion = delivery('a');
      expect(await one.find(KEY, occasion.id)).toBeUndefined();
      expect(await one.record(occasion, '{"a":"\u0000ü"}')).toBe('recorded');
      for (const ledger of [one, other]) {
        expect(await ledger.find(KEY, occasion.id)).toEqual({ occasion, outcome: { kind: 'due' } });
        expect(await ledger.payload(occasion)).toBe('{"a":"\u0000ü"}');
        expect(await ledger.open(KEY)).toHaveLength(1);
        expect(await ledger.open(ELSEWHERE)).toEqual([]);
      }
      expect(await one.payload(delivery('b'))).toBeUndefined();
      expect(await one.find(KEY, '../x')).toBeUndefined();
    },
  },
  {
    name: 'of many that record the same occasion, one is told that it is new',
    async holds({ one, other }) {
      const told = await Promise.all(
        [one, other, one, other, one].map((ledger) => ledger.record(delivery('a'), 'x')),
      );
      expect(told.filter((word) => word === 'recorded')).toHaveLength(1);
      expect(await one.open(KEY)).toHaveLength(1);
      expect(await other.record(delivery('a', 99))).toBe('known');
    },
  },
  {
    name: 'the same delivery of another project is another occasion',
    async holds({ one }) {
      await one.record(delivery('a'));
      expect(await one.record(delivery('a', 1, ELSEWHERE))).toBe('recorded');
      expect(await one.newest({ project: KEY.project }, 10)).toHaveLength(1);
    },
  },
  {
    name: 'outcomes follow each other until one is final',
    async holds({ one, other }) {
      const occasion = delivery('a');
      const outcome = async () => (await other.find(KEY, occasion.id))?.outcome;
      await one.settle(occasion, { kind: 'started', at: 1 });
      expect(await outcome()).toBeUndefined();
      await one.record(occasion);
      await one.settle(occasion, { kind: 'started', at: 2 });
      expect(await outcome()).toEqual({ kind: 'started', at: 2 });
      expect(await other.open(KEY)).toHaveLength(1);
      await one.settle(occasion, { kind: 'over', at: 3, how: 'completed' });
      expect(await other.open(KEY)).toEqual([]);
      await other.settle(occasion, { kind: 'refused', at: 4, why: 'x' });
      expect(await outcome()).toEqual({ kind: 'over', at: 3, how: 'completed' });
      expect(await other.record(occasion)).toBe('known');
    },
  },
  {
    name: 'an occasion can be recorded with its outcome',
    async holds({ one }) {
      const why = { kind: 'skipped', at: 5, why: 'too late', times: 3 } as const;
      await one.record(delivery('a'), undefined, why);
      expect(await one.open(KEY)).toEqual([]);
      expect(await one.newest(KEY, 1)).toMatchObject([{ outcome: why }]);
    },
  },
  {
    name: 'open occasions are in the order of their records, and the newest ones come first',
    async holds({ one, other }) {
      for (const [index, id] of ['c', 'a', 'b'].entries())
        await one.record(delivery(id, index + 1));
      const ids = (records: readonly { readonly occasion: Occasion }[]) =>
        records.map(({ occasion: { cause } }) => cause.kind === 'webhook' && cause.delivery);
      expect(ids(await other.open(KEY))).toEqual(['c', 'a', 'b']);
      expect(ids(await other.newest(KEY, 2))).toEqual(['b', 'a']);
      await one.record(delivery('z', 9, { ...KEY, name: 'other' }));
      expect(ids(await other.newest({ project: KEY.project }, 2))).toEqual(['z', 'b']);
    },
  },
  {
    name: 'the newest final occasions and all open ones are kept, the others are removed',
    async holds({ one, other }) {
      await one.record(delivery('open', 0), 'x');
      const skipped = { kind: 'skipped', at: 1, why: 'x' } as const;
      for (let at = 1; at < 50; at++)
        await one.record(delivery(`d${at}`, at), undefined, at % 2 ? skipped : undefined);
      for (let at = 2; at < 50; at += 2) await one.settle(delivery(`d${at}`, at), skipped);
      expect(await other.open(KEY)).toHaveLength(1);
      const left = await other.newest(KEY, 10_000);
      expect(left.length).toBeLessThan(1.2 * KEPT);
      expect(left.length).toBeGreaterThan(KEPT);
      expect(await other.record(delivery('d49', 2_000))).toBe('known');
      expect(await other.payload(delivery('open', 0))).toBe('x');
    },
  },
  {
    name: 'after the clock was set back, the later records are the newest, and are kept',
    async holds({ one, other }) {
      const skipped = { kind: 'skipped', at: 1, why: 'x' } as const;
      const future = Date.now() + 1_000_000_000;
      for (let count = 0; count < KEPT; count++)
        await one.record(delivery(`future${count}`, future + count), undefined, skipped);
      await other.record(delivery('open', future), 'x');
      for (let at = 1; at <= KEPT / 2; at++) {
        await one.record(delivery(`d${at}`, at));
        await one.settle(delivery(`d${at}`, at), skipped);
      }
      for (let at = 1; at <= KEPT / 2; at++)
        expect(await other.record(delivery(`d${at}`, at))).toBe('known');
      expect(await other.newest(KEY, 1)).toMatchObject([{ occasion: { at: KEPT / 2 } }]);
      await one.record(delivery('last', 0));
      const [first] = await other.open(KEY);
      expect(first).toMatchObject({ occasion: { at: future } });
    },
  },
  {
    name: 'a trigger is kept since the first time',
    async holds({ one, other }) {
      expect(await one.keptSince(KEY, 1_000_000_000_000)).toBe(1_000_000_000_000);
      expect(await other.keptSince(KEY, 2_000_000_000_000)).toBe(1_000_000_000_000);
      expect(await other.keptSince(ELSEWHERE, 3)).toBe(3);
    },
  },
  {
    name: 'one at a time decides about a trigger',
    async holds({ one, other }) {
      let inside = 0;
      let most = 0;
      const decide = (ledger: Occasions) =>
        ledger.alone(KEY, async () => {
          most = Math.max(most, ++inside);
          await new Promise((resolve) => setImmediate(resolve));
          await ledger.record(delivery(`${Math.random()}`));
          inside--;
        });
      await Promise.all([decide(one), decide(other), decide(other), decide(one)]);
      expect(most).toBe(1);
      await expect(one.alone(KEY, () => Promise.reject(new Error('x')))).rejects.toThrow('x');
      await other.alone(KEY, async () => {});
    },
  },
  {
    name: 'whoever watches learns of a record of another process',
    async holds({ one, other }) {
      let heard = 0;
      const end = one.watch(KEY.project, () => heard++);
      let count = 0;
      await eventually('a notice', async () => {
        await other.record(delivery(`n${count++}`, count));
        return heard > 1;
      });
      end();
    },
  },
];
