import { expect, test } from 'vitest';
import { matching, titleOf } from './workflows.ts';

const input = { label: null, required: false, default: null };
const review = {
  ...{ path: 'flows/review', name: 'review', title: 'Review a change', problem: null },
  ...{ description: 'Reads the diff.', states: 3, input, budget_usd: null, fault: null },
};
const problem = { code: 'broken', message: 'START.md is broken.', remedy: 'Fix it.' };
const broken = { path: 'flows/broken', name: 'broken', problem };

test('all words must be in the path, the title, the description or the problem', () => {
  const all = [review, broken];
  expect(matching(all, '')).toEqual(all);
  expect(matching(all, ' FLOWS  diff ')).toEqual([review]);
  expect(matching(all, 'start.md')).toEqual([broken]);
  expect(matching(all, 'flows nothing')).toEqual([]);
});

test('a workflow without a title has its name', () => {
  expect(titleOf(review)).toBe('Review a change');
  expect(titleOf({ ...review, title: null })).toBe('review');
  expect(titleOf(broken)).toBe('broken');
});
