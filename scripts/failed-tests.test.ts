import { describe, expect, test } from 'vitest';
import {
  compareRuns,
  type Failure,
  failedText,
  filesToRepeat,
  MOST_REPEATED,
  type Report,
  unsteadyText,
} from './failed-tests.js';

const failure = (file: string, name = 'a test', message = 'it was 1'): Failure => ({
  file,
  name,
  message,
});
const report = (failures: readonly Failure[], otherErrors: readonly string[] = []): Report => ({
  failures,
  otherErrors,
});
const files = (count: number) => Array.from({ length: count }, (_, n) => `${n}.test.ts`);

describe('the files to run a second time', () => {
  test.each<[string, Report | undefined, readonly string[]]>([
    ['none, without a report', undefined, []],
    ['none, without failures', report([]), []],
    ['each file once', report([failure('a', '1'), failure('a', '2'), failure('b')]), ['a', 'b']],
    [
      'as many as are allowed',
      report(files(MOST_REPEATED).map((file) => failure(file))),
      files(MOST_REPEATED),
    ],
    ['none after more failures', report(files(MOST_REPEATED + 1).map((f) => failure(f))), []],
    ['none after an error outside of the tests', report([failure('a')], ['broken pipe']), []],
  ])('%s', (_, given, expected) => {
    expect(filesToRepeat(given)).toEqual(expected);
  });
});

describe('a second run', () => {
  const first = report([failure('a', '1', 'it was 1'), failure('a', '2'), failure('b', '1')]);

  test('shows which tests are unsteady, and gives both messages of the others', () => {
    const again = failure('a', '1', 'it was 2');
    expect(compareRuns(first, report([again]))).toEqual({
      failed: [{ ...again, firstMessage: 'it was 1' }],
      unsteady: [failure('a', '2'), failure('b', '1')],
    });
  });

  test('fails with a test that had passed before', () => {
    const other = failure('b', '2');
    expect(compareRuns(first, report([other])).failed).toEqual([other]);
  });

  test('fails with an error outside of the tests', () => {
    const { failed } = compareRuns(first, report([], ['broken pipe']));
    expect(failed).toMatchObject([{ message: 'broken pipe' }]);
  });

  test('without a report, everything has failed', () => {
    expect(compareRuns(first, undefined)).toEqual({ failed: first.failures, unsteady: [] });
  });
});

test('the text names file, test and both messages', () => {
  const text = failedText([{ ...failure('a.test.ts', 'adds'), firstMessage: 'it was 2' }]);
  expect(text).toContain('- a.test.ts > adds\n    it was 1\n    In the first run:\n    it was 2');
});

test('the text stays short', () => {
  const long = failure('a', 'b', 'long\n'.repeat(1000));
  expect(failedText(Array(1000).fill(long)).split('\n').length).toBeLessThan(400);
});

test('unsteady tests are called a bug', () => {
  expect(unsteadyText([failure('a.test.ts', 'adds')])).toMatch(/bug.*\n\n- a\.test\.ts > adds/);
});
