import { expect, test } from 'vitest';
import type { PayloadMatch } from '../model/trigger.ts';
import { matchesPayload } from './match-payload.ts';

const ISSUE = {
  action: 'labeled',
  number: 7,
  draft: false,
  milestone: null,
  issue: { labels: [{ name: 'bug' }, { name: 'agent' }], user: { login: 'ann' } },
  files: { 'a.md': { size: 1 }, b: { size: 2 } },
};

test.each<[match: PayloadMatch, fits: boolean]>([
  [{}, true],
  [{ action: 'labeled' }, true],
  [{ action: 'opened' }, false],
  [{ action: ['opened', 'labeled'] }, true],
  [{ action: [] }, false],
  [{ action: ['opened', 'labeled'], 'issue.labels.*.name': 'agent' }, true],
  [{ action: ['opened'], 'issue.labels.*.name': 'agent' }, false],
  [{ 'issue.labels.*.name': 'feature' }, false],
  [{ 'issue.labels.1.name': 'agent' }, true],
  [{ 'issue.labels.2.name': 'agent' }, false],
  [{ 'issue.labels.*': 'agent' }, false],
  [{ 'issue.labels.length': 2 }, false],
  [{ 'files.*.size': 2 }, true],
  [{ '*.user.login': 'ann' }, true],
  // Values are compared as JSON: a number is not its text.
  [{ number: 7 }, true],
  [{ number: '7' }, false],
  [{ draft: false }, true],
  [{ draft: 'false' }, false],
  [{ milestone: null }, true],
  [{ missing: null }, false],
  // Only own keys count.
  [{ 'constructor.name': 'Object' }, false],
  [{ '__proto__.constructor.name': 'Object' }, false],
  [{ 'action.length': 7 }, false],
  [{ 'issue.toString.name': 'toString' }, false],
  [{ '': 'labeled' }, false],
])('%j', (match, fits) => {
  expect(matchesPayload(match, ISSUE)).toBe(fits);
});

test.each([undefined, null, 7, 'labeled', []])(
  '%j is not an object and fits no path',
  (payload) => {
    expect(matchesPayload({ action: 'labeled' }, payload)).toBe(false);
  },
);

test('a key of the payload may have the name of a prototype', () => {
  expect(matchesPayload({ '__proto__.x': 1 }, JSON.parse('{"__proto__":{"x":1}}'))).toBe(true);
});

test('a path of more than 32 keys matches nothing', () => {
  const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });
  const path = (depth: number) => Array(depth).fill('a').join('.');
  expect(matchesPayload({ [path(32)]: 1 }, nested(32))).toBe(true);
  expect(matchesPayload({ [path(33)]: 1 }, nested(33))).toBe(false);
});

test('every value is visited once per path', () => {
  let visits = 0;
  const counted = (width: number, depth: number): object =>
    new Proxy(
      Array.from({ length: width }, () => (depth === 0 ? 0 : counted(width, depth - 1))),
      {
        ownKeys(target) {
          visits += 1;
          return Reflect.ownKeys(target);
        },
      },
    );
  const payload = counted(4, 5);
  expect(matchesPayload({ '*.*.*.*.*.*': 1 }, payload)).toBe(false);
  expect(visits).toBe(1 + 4 + 4 ** 2 + 4 ** 3 + 4 ** 4 + 4 ** 5);
});
