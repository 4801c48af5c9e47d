import { expect, test } from 'vitest';
import { withCase } from './with-case.ts';

const added = { name: 'b', input: 'one: two\n# three', expected: 'yes' };

test('a case is added at the end, and comments stay', () => {
  const text = `# Ours.
cases:
  # The first one.
  - name: a # short
    input: x

repetitions: 5 # enough
scorers: [{ name: right, result: equals }]
`;
  expect(withCase(text, added)).toBe(`# Ours.
cases:
  # The first one.
  - name: a # short
    input: x
  - name: b
    input: |-
      one: two
      # three
    expected: yes

repetitions: 5 # enough
scorers: [ { name: right, result: equals } ]
`);
});

test.each([
  ['', 'cases:\n  - name: b\n'],
  ['# Only a comment.\n', '# Only a comment.\ncases:\n  - name: b\n'],
  ['cases:\n', 'cases:\n  - name: b\n'],
  ['cases: []\n', 'cases:\n  - name: b\n'],
  ['repetitions: 2\n', 'repetitions: 2\ncases:\n  - name: b\n'],
])('%j gets it, too', (text, expected) => {
  expect(withCase(text, { name: 'b' })).toContain(expected);
});

test.each(['cases: 5\n', '- a\n', 'a: [\n'])('%j has no place for it', (text) => {
  expect(withCase(text, added)).toBeUndefined();
});
