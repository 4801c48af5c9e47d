import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UserError } from '../model/user-error.ts';
import { checkRunId, newRunId } from './run-id.ts';

test.each(['a', 'demo-1a2b3c4d', 'prüfung-1', 'v1.2_x', '7', '_x', 'あ'.repeat(60)])(
  '%s is an id',
  (id) => {
    expect(checkRunId(id)).toBe(id);
  },
);

test.each([
  '',
  '.',
  '..',
  '.hidden',
  'a/b',
  '../a',
  'a\\b',
  'a b',
  'a\0',
  'a\n',
  '-x',
  'a.',
  'C:x',
  'a'.repeat(101),
  'あ'.repeat(70),
])('%j is none', (text) => {
  expect(() => checkRunId(text)).toThrow(UserError);
});

test('both spellings of an umlaut are one id', () => {
  expect(checkRunId('pru\u0308fung')).toBe('pr\u00fcfung');
});

test.each([
  ['review', /^review-[0-9a-f]{8}$/],
  ['My flow: (v2)', /^My-flow-v2-[0-9a-f]{8}$/],
  ['../..', /^run-[0-9a-f]{8}$/],
  ['.hidden.', /^hidden-[0-9a-f]{8}$/],
  ['Übung', /^Übung-[0-9a-f]{8}$/],
])('a run of %s has a fitting id', (name, pattern) => {
  expect(newRunId(name)).toMatch(pattern);
});

test('a run of a workflow with any name has an id', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (name) => {
      const id = newRunId(name);
      expect(checkRunId(id)).toBe(id);
    }),
  );
});
