import { expect, test } from 'vitest';
import { choicesIn } from './choices.ts';

test.each([
  ['Which?\n\n1. Create **it**\n2. `Drop` it', ['Create it', 'Drop it']],
  ['- yes\n- no\n\nWhat do you say?', ['yes', 'no']],
  ['a) The first\nb) The second', ['The first', 'The second']],
  ['First:\n- not this\n- nor this\n\nThen choose:\n\n* A\n* B', ['A', 'B']],
  [
    'Which?\n  1. Yes: at once\n  2. No\n(Answer with one line for each question.)',
    ['Yes: at once', 'No'],
  ],
  ['Go on? (yes/no)', ['yes', 'no']],
  ['Go on? [y/N]', ['y', 'N']],
])('%j', (question, choices) => {
  expect(choicesIn(question)).toEqual(choices);
});

test.each([
  ['no list', 'Which colour?'],
  ['one item', '- only one'],
  ['tasks', 'Ready?\n- [x] measured\n- [ ] told'],
  ['a list that is not at the end', '- a\n- b\n\nOne.\nTwo.\nThree.\nHow many?'],
  ['code', 'See\n```\n- a\n- b\n```\n'],
  ['a long item', `- a\n- ${'b'.repeat(200)}`],
  ['many items', Array.from({ length: 12 }, (_, n) => `${n}. x`).join('\n')],
  ['a path in brackets', 'Shall I change it (see src/pool.ts)?'],
])('no choices: %s', (_name, question) => {
  expect(choicesIn(question)).toEqual([]);
});

test('takes time in proportion to the text', () => {
  for (const text of [
    '- '.repeat(100_000),
    '['.repeat(100_000),
    '(a/'.repeat(50_000),
    ' '.repeat(100_000),
  ])
    expect(choicesIn(text)).toEqual([]);
});
