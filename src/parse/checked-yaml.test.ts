import { expect, test } from 'vitest';
import { AGENTS } from '../execute/agents/agents.ts';
import { optionTable } from '../options/chosen-options.ts';
import { testSettingsSchema } from '../options/option-schema.ts';
import { allChoices } from './agent-choices.ts';
import { readCheckedYaml } from './checked-yaml.ts';
import { rehearsalSchema } from './rehearsal-file.ts';
import { testFileSchema, testsIn } from './test-file.ts';

const testFiles = testFileSchema(testSettingsSchema(optionTable({ choices: allChoices(AGENTS) })));

test.each([
  ['answers: {START: yes it is}', { START: 'yes it is' }],
  ['answers: {START: 42}', { START: '42' }],
  ['answers: {START: [a, {text: b, cost: 0.5}]}', { START: ['a', { text: 'b', cost: 0.5 }] }],
  ['answers: {START: {failure: crashed}}', { START: { failure: 'crashed' } }],
  ['answers: {A: &x hello, B: *x}', { A: 'hello', B: 'hello' }],
  ['', undefined],
  ['# nothing yet', undefined],
])('reads %s', (text, answers) => {
  const read = readCheckedYaml(rehearsalSchema, 'r.yaml', text);
  expect(read.ok && read.value.answers).toEqual(answers);
});

test.each([
  ['answers:\n  START: {text: a, cst: 5}', 2, 20, 'answers.START has no key "cst".', 'cost'],
  ['answers:\n  START: {txt: a}', 2, 11, 'answers.START has no key "txt".', 'text'],
  ['answers:\n  START: [a, {text: []}]', 2, 21, 'answers.START[2].text must be a text', 'a text'],
  ['answers:\n  START:\n', 2, 3, 'answers.START is missing', undefined],
  ['answers: {START: []}', 1, 18, 'answers.START must be at least one answer', 'at least one'],
  ['answers: 5', 1, 10, 'answers must be a map of states to answers, but it is 5', 'a map'],
  ['replys: [a]', 1, 1, 'This file has no key "replys".', 'replies'],
  [
    '- a',
    1,
    1,
    'This file must be a map with answers, answers_of, checks, handovers, fills, replies, but it is a list',
    'a map',
  ],
  ['answers: {', 1, 11, 'This is not valid YAML', undefined],
  ['answers: {A: &x {txt: a}, B: *x}', 1, 18, 'answers.A has no key "txt".', 'text'],
  ['x: &x {txt: a}\nanswers: {B: *x}', 1, 8, 'answers.B has no key "txt".', 'text'],
  [
    'answers: {A: 1}\nanswers: {}',
    2,
    1,
    'This is not valid YAML: Map keys must be unique',
    undefined,
  ],
])('reports where %j is wrong', (text, line, column, message, remedy) => {
  const read = readCheckedYaml(rehearsalSchema, 'r.yaml', text);
  const [fault] = read.ok ? [] : read.faults;
  expect(fault).toMatchObject({ file: 'r.yaml', line, column });
  expect(fault?.message).toContain(message);
  expect(fault?.remedy ?? '').toContain(remedy ?? '');
});

test.each([
  ['expect: {outcome: done}', 'expect.outcome must be one of completed, failed'],
  ['expect: {pth: [A]}', 'expect has no key "pth".'],
  ['budget: -1', 'budget must be an amount of USD'],
  ['tests: [{depth: 1}]', 'tests[1] has no key "depth".'],
  ['recorded: [{agent: main, state: A, answr: x}]', 'recorded[1] has no key "answr".'],
  ['recorded: [{agent: main, state: A, failure: tired}]', 'recorded[1].failure must be one of'],
])('refuses the test %s', (text, message) => {
  const read = readCheckedYaml(testFiles, 't.yaml', text);
  expect(read.ok ? undefined : read.faults[0].message).toContain(message);
});

test('keys beside tests apply to each test', () => {
  const text = `
input: all
answers: {A: 1, B: 2}
tests:
  - {name: one, answers: {B: 3}}
  - {name: two, input: own}
`;
  const read = readCheckedYaml(testFiles, 't.yaml', text);
  expect(read.ok && testsIn(read.value)).toMatchObject([
    { name: 'one', input: 'all', answers: { A: '1', B: '3' } },
    { name: 'two', input: 'own', answers: { A: '1', B: '2' } },
  ]);
});

const BOMB = `a: &a [x, x, x, x, x, x, x, x, x, x]
${['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
  .map((name, i) => {
    const before = String.fromCharCode('a'.charCodeAt(0) + i);
    return `${name}: &${name} [${Array(10).fill(`*${before}`).join(', ')}]`;
  })
  .join('\n')}
`;

/** Each line nests the one before it. Expanded by recursion, it would exhaust the stack. */
const CHAIN = Array.from(
  { length: 5_000 },
  (_, i) => `a${i}: &a${i} [${i ? `*a${i - 1}` : 'x'}]`,
).join('\n');

test.each([
  ['aliases that expand to a billion texts', BOMB, 'alias'],
  ['an alias of nothing', 'replies: *nothing', 'There is no anchor &nothing above.'],
  ['lists a hundred thousand deep', '['.repeat(100_000), 'nested more than 50 levels deep'],
  ['maps a thousand deep', `${'a: {'.repeat(1_000)}${'}'.repeat(1_000)}`, 'nested more than'],
  ['a key twice', 'replies: [a]\nreplies: [b]', 'Map keys must be unique'],
  ['a value that contains itself', 'replies: &a [*a]', 'The value of &a contains itself.'],
  ['a chain of aliases that nests ever deeper', CHAIN, 'nested more than 50 levels deep'],
  ['a key that is a list', 'answers: {? [a, b] : x}', 'A key of answers is not a plain word.'],
  ['two documents', 'replies: [a]\n---\nreplies: [b]', 'A second YAML document begins here.'],
])('%s is reported as a fault', (_, text, message) => {
  const read = readCheckedYaml(rehearsalSchema, 'x.yaml', text);
  expect(read).toMatchObject({ ok: false });
  expect(read.ok ? '' : read.faults[0].message).toContain(message);
});

test('keys with a meaning in JavaScript are unknown keys', () => {
  for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    const read = readCheckedYaml(rehearsalSchema, 'x.yaml', `${key}: {a: b}`);
    expect(read, key).toMatchObject({ ok: false });
  }
});
