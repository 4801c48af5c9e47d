import { expect, test } from 'vitest';
import { furtherBudget, resumeProblem } from './resume.ts';

const stopped = { condition: 'stopped: budget', cost_usd: 0.42, budget_usd: 0.4, iterations: 7 };

test.each([
  [stopped, 0.82],
  [{ ...stopped, cost_usd: 5.2, budget_usd: 5 }, 11],
  [{ ...stopped, cost_usd: 5, budget_usd: 0.5 }, 6],
])('%j: a budget of %d is more than was spent', (run, budget) => {
  expect(furtherBudget(run)).toBe(budget);
  expect(resumeProblem(run, budget, undefined)).toBeUndefined();
});

test.each([
  ['as before', undefined, undefined],
  ['less than was spent', 0.41, undefined],
])('a resume that would change nothing says so: %s', (_name, budget, steps) => {
  expect(resumeProblem(stopped, budget, steps)?.message).toContain('has spent $0.4200');
});

test('no limit, and a limit of steps', () => {
  expect(resumeProblem(stopped, 0, undefined)).toBeUndefined();
  const long = { ...stopped, condition: 'stopped: iterations', cost_usd: 0 };
  expect(resumeProblem(long, undefined, undefined)?.message).toContain('has started 7 states');
  expect(resumeProblem(long, undefined, 7)?.message).toContain('has started 7 states');
  expect(resumeProblem(long, undefined, 8)).toBeUndefined();
  expect(resumeProblem(long, undefined, 0)).toBeUndefined();
});
