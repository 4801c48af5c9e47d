import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changed, changesBetween } from './changes.ts';

test('a change names the smallest place', () => {
  const before = { agents: [{ id: 'a', cost: 1 }, { id: 'b' }], result: null, old: 1 };
  const after = { agents: [{ id: 'a', cost: 2 }, { id: 'b' }, { id: 'c' }], result: { text: 'x' } };
  expect(changesBetween(before, after)).toEqual([
    [['agents', 0, 'cost'], 2],
    [['agents', 2], { id: 'c' }],
    [['result'], { text: 'x' }],
    [['old']],
  ]);
  expect(changesBetween(after, after)).toEqual([]);
});

test('parts that do not change stay the same objects', () => {
  const before = { agents: [{ id: 'a' }, { id: 'b' }], states: [1] };
  const after = { agents: [{ id: 'a' }, { id: 'c' }], states: [1] };
  expect(changed(before, changesBetween(before, after))).toMatchObject(after);
  const made = changed(before, changesBetween(before, after)) as typeof before;
  expect(made.states).toBe(before.states);
  expect(made.agents[0]).toBe(before.agents[0]);
});

test('the changes from one value make the other, also after they were sent as JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      const [before, after] = [one, other].map((value) => JSON.parse(JSON.stringify(value)));
      const sent = JSON.parse(JSON.stringify(changesBetween(before, after)));
      expect(changed(before, sent)).toEqual(after);
    }),
  );
});
