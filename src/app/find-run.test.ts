import { expect, test } from 'vitest';
import { UserError } from '../model/user-error.ts';
import { idsMeant, meansRun } from './find-run.ts';

const IDS = ['demo', 'demo-11112222', 'demo-11113333', 'lost-1'];

test.each([
  ['demo-11112222', ['demo-11112222']],
  ['demo', ['demo']],
  ['demo-11112', ['demo-11112222']],
  ['demo-1111', ['demo-11112222', 'demo-11113333']],
  ['l', ['lost-1']],
])('%s means %j', (text, ids) => {
  expect(idsMeant(IDS, text)).toEqual(ids);
});

test.each([
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
    idsMeant(IDS, text);
    return undefined;
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
}
