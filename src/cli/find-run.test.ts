import { expect, test } from 'vitest';
import { UserError } from '../model/user-error.ts';
import { findRun, meansRun } from './find-run.ts';

const IDS = ['demo', 'demo-11112222', 'demo-11113333', 'lost-1'];

test.each([
  ['demo-11112222', 'demo-11112222'],
  ['demo', 'demo'],
  ['demo-11112', 'demo-11112222'],
  ['l', 'lost-1'],
])('%s means %s', (text, id) => {
  expect(findRun(IDS, text)).toBe(id);
});

test.each([
  ['demo-1111', 'ambiguous-run', 'demo-11112222, demo-11113333'],
  ['dmeo-11112222', 'no-run', 'demo-11112222'],
  ['zzz', 'no-run', 'raymond list'],
  ['../demo', 'bad-run-id', 'letters'],
])('%s is an error that helps', (text, code, hint) => {
  const problem = problemOf(text);
  expect(problem).toMatchObject({ code });
  expect(`${problem?.message} ${problem?.remedy}`).toContain(hint);
});

test.each([
  ['demo-1', true],
  ['dmeo-11112222', true],
  ['zzzzzz', false],
  ['../demo', false],
  ['yes', false],
])('whether %s means a run: %s', (word, expected) => {
  expect(meansRun(IDS, word)).toBe(expected);
});

function problemOf(text: string): UserError | undefined {
  try {
    findRun(IDS, text);
    return undefined;
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
}
