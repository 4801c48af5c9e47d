import { expect, test } from 'vitest';
import { type Change, changed } from '../../src/look/changes.ts';
import type { RunRow } from '../../src/look/run-shape.ts';
import { listed } from './runs-watch.ts';

const damaged = (id: string): RunRow => ({
  ...{ id, status: 'damaged', condition: 'damaged' },
  problem: { code: 'damaged', message: 'Its journal cannot be read.', remedy: 'Salvage it.' },
});

test('a run keeps its place in the list when it changes, also among those of the same moment', () => {
  const ids = ['__proto__', '7', 'a', 'b', 'constructor'];
  const before = { runs: Object.fromEntries(ids.map((id) => [id, damaged(id)])) };
  const names = ({ runs }: typeof before) => listed(runs).map(({ id }) => id);
  const first = names(before);
  expect(new Set(first)).toEqual(new Set(ids));
  for (const id of ids) {
    const change: Change = [['runs', id, 'problem', 'message'], 'Its journal is empty.'];
    expect(names(changed(before, [change]) as typeof before)).toEqual(first);
  }
});
