import { expect, test } from 'vitest';
import type { RunEvent } from '../model/event.ts';
import { stateNameSchema } from '../model/state-name.ts';
import { Executions } from './executions.ts';

function started(agent: string, step: number, more: { task?: 'check'; state?: string } = {}) {
  const event: RunEvent = {
    type: 'step-started',
    at: 0,
    agent,
    step,
    state: stateNameSchema.parse(more.state ?? 'WORK.md'),
    task: more.task ?? 'state',
    attempt: 1,
  };
  return event;
}

test('executions have the order of the journal, whichever step begins first', () => {
  const executions = new Executions();
  executions.journaled([started('main_work1', 1), started('main_work2', 1)]);
  executions.journaled([started('main_work2', 2), started('main_work1', 2, { state: 'END.md' })]);
  expect(executions.numberOf('main_work2', 2)).toEqual({ number: 3, ofAgent: 2 });
  expect(executions.numberOf('main_work2', 1)).toEqual({ number: 2, ofAgent: 1 });
  expect(executions.numberOf('main_work1', 1)).toEqual({ number: 1, ofAgent: 1 });
  expect(executions.numberOf('main_work1', 2)).toEqual({ number: 1, ofAgent: 1 });
});

test('the executions of a check are those of its command', () => {
  const executions = new Executions();
  const called = (run: string): RunEvent => ({
    type: 'check-called',
    at: 0,
    agent: 'main',
    ensure: 0,
    run,
    tags: [],
  });
  executions.journaled([started('main', 1)]);
  for (const [index, run] of ['npm test', 'npm run lint', 'npm test'].entries())
    executions.journaled([called(run), started('main', index + 2, { task: 'check' })]);
  const numbers = [2, 3, 4].map((step) => executions.numberOf('main', step).number);
  expect(numbers).toEqual([1, 1, 2]);
});
