/** Counts work, not seconds. An event costs the same with ten agents and with ten thousand, and after any number of events. */
import { expect, test, vi } from 'vitest';
import { PersistentMap } from '../../src/model/persistent-map.ts';
import type { Run } from '../../src/model/run.ts';
import { failed, makeRun, type Stage } from '../make-run.ts';

function crowd(size: number): Stage {
  const stage = makeRun(
    { START: [], W: [] },
    { settings: { budgetUsd: 0, maxParallelPrompts: 99, maxAgents: 2 * size } },
  );
  // One answer may fork at most a thousand children.
  for (let left = size; left > 0; left -= 1000)
    stage.turn(`${'<fork>W</fork>'.repeat(Math.min(left, 1000))}<goto>START</goto>`);
  stage.turn('<goto>W</goto>');
  stage.start('main_w2');
  return stage;
}

/** The run with every use of its maps counted. An iteration counts once for each entry. */
function counted(run: Run, count: () => void): Run {
  const watch = <V>(map: PersistentMap<V>): PersistentMap<V> =>
    new Proxy(map, {
      get(target, key) {
        if (key === Symbol.iterator) {
          return function* () {
            for (const entry of target) {
              count();
              yield entry;
            }
          };
        }
        const member: unknown = Reflect.get(target, key, target);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          count();
          const result: unknown = member.apply(target, args);
          return result instanceof PersistentMap ? watch(result) : result;
        };
      },
    });
  return {
    ...run,
    agents: watch(run.agents),
    endedAgents: watch(run.endedAgents),
    forkCounters: watch(run.forkCounters),
  };
}

function work(stage: Stage, happen: (stage: Stage) => unknown): number {
  const before = stage.run;
  let count = 0;
  stage.run = counted(before, () => count++);
  happen(stage);
  stage.run = before;
  return count;
}

const few = crowd(10);
const many = crowd(10_000);

test.each<[string, (stage: Stage) => unknown]>([
  ['a step that starts', (stage) => stage.start('main_w1')],
  ['a move', (stage) => stage.end('<goto>W</goto>', 'main_w2')],
  ['a call', (stage) => stage.end('<call return="W">W</call>', 'main_w2')],
  ['a fork', (stage) => stage.end('<fork next="W">W</fork>', 'main_w2')],
  ['a question', (stage) => stage.end('<ask next="W">?</ask>', 'main_w2')],
  ['an end', (stage) => stage.end('<result>x</result>', 'main_w2')],
  ['a failure', (stage) => stage.end(failed('crashed'), 'main_w2')],
  ['a usage limit', (stage) => stage.end(failed('usage-limit'), 'main_w2')],
  ['a stop', (stage) => stage.stop('drain')],
  ['a check whether the run is done', (stage) => stage.idle()],
])('%s', (_, happen) => {
  expect(work(many, happen)).toBe(work(few, happen));
  expect(work(few, happen)).toBeLessThan(30);
});

function joiningCrowd(size: number): Stage {
  const settings = { budgetUsd: 0, maxParallelPrompts: 99 };
  const stage = makeRun({ START: [], W: [], M: [] }, { settings });
  stage.turn(`${'<fork>W</fork>'.repeat(size)}<join>M</join>`);
  stage.start('main_w2');
  return stage;
}

test.each<[string, (stage: Stage) => unknown]>([
  ['the end of a joined child', (stage) => stage.end('<result>x</result>', 'main_w2')],
  ['the failure of a joined child', (stage) => stage.end(failed('refused'), 'main_w2')],
])('%s does not look at the other children', (_, happen) => {
  expect(work(joiningCrowd(1000), happen)).toBe(work(joiningCrowd(10), happen));
});

test('the count would show an iteration over all agents', () => {
  expect(work(few, (stage) => [...stage.run.agents])).toBe(few.run.agents.size);
});

test('a change of a map rebuilds one path of it, and a path has at most seven nodes', () => {
  // Each way to copy the children of a node.
  const copies = [vi.spyOn(Array.prototype, 'slice'), vi.spyOn(Array.prototype, 'toSpliced')];
  for (const size of [10, 10_000]) {
    const map = PersistentMap.from(Array.from({ length: size }, (_, i) => [`main_w${i}`, i]));
    for (const change of [
      () => map.set('main_w5', 0),
      () => map.set('new', 0),
      () => map.delete('main_w5'),
    ]) {
      for (const spy of copies) spy.mockClear();
      change();
      const built = copies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
      expect(built).toBeGreaterThan(0);
      expect(built).toBeLessThanOrEqual(7);
    }
  }
  for (const spy of copies) spy.mockRestore();
});

test('a step costs the same at the end of a short and of a long history', () => {
  const after = (steps: number) => {
    const stage = makeRun({ START: [] }, { settings: { budgetUsd: 0 } });
    for (let step = 0; step < steps; step++) stage.turn('<goto>START</goto>');
    const copied = vi.spyOn(Array.prototype, 'slice');
    const uses = work(stage, () => stage.turn('<goto>START</goto>'));
    const copies = copied.mock.calls.length;
    copied.mockRestore();
    return { uses, copies, parts: partsOf(stage.run) };
  };
  expect(after(2_000)).toEqual(after(10));
});

/** The number of values in a run, its agents and their parts. */
function partsOf(value: unknown): number {
  if (value instanceof PersistentMap) return partsOf([...value]);
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, part) => sum + partsOf(part), 1);
}
