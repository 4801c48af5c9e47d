import { expect, test } from 'vitest';
import { AGENTS } from '../execute/agents/agents.ts';
import { readPrompt } from './front-matter.ts';

const read = (ensures: string) =>
  readPrompt('A.md', `---\nensures:\n  - ${ensures}\n---\nDo it.\n`, AGENTS);

test('a check with all keys', () => {
  const { policy, diagnostics } = read(
    '{run: npm test, on: [result, goto DEPLOY], say: Repair it., tries: 5, else: {tag: goto, target: STUCK}}',
  );
  expect(diagnostics).toEqual([]);
  expect(policy.ensures).toEqual([
    {
      run: 'npm test',
      on: [
        { tag: 'result', attributes: {}, line: 3, column: 26 },
        { tag: 'goto', body: 'DEPLOY', attributes: {}, line: 3, column: 34 },
      ],
      say: 'Repair it.',
      tries: 5,
      otherwise: { name: 'goto', attributes: {}, body: 'STUCK' },
      line: 3,
      column: 5,
    },
  ]);
});

test('a check needs only its command', () => {
  expect(read('{run: make}').policy.ensures).toEqual([
    { run: 'make', tries: 3, line: 3, column: 5 },
  ]);
});

test.each([
  ['make', '3:5 bad-value', 'a map like'],
  ['{}', '3:5 bad-check', 'has no command'],
  ['{run: "  "}', '3:11 bad-check', 'has no command'],
  ['{run: [a]}', '3:11 bad-value', 'a command'],
  ['{run: a, on: []}', '3:18 bad-check', 'never runs'],
  ['{run: a, on: goto}', '3:18 bad-value', 'a list'],
  ['{run: a, on: [gotto X]}', '3:19 unknown-tag', 'gotto'],
  ['{run: a, on: [result X]}', '3:19 bad-check', 'no target'],
  ['{run: a, tries: -1}', '3:21 bad-value', 'not negative'],
  ['{run: a, else: {tag: goto}}', '3:20 incomplete-transition', 'target'],
  ['{run: a, sya: hello}', '3:14 unknown-key', 'sya'],
])('%s is reported at %s', (ensures, where, words) => {
  const [first] = read(ensures).diagnostics;
  expect(`${first?.line}:${first?.column} ${first?.code}`).toBe(where);
  expect(`${first?.message} ${first?.remedy}`).toContain(words);
});
