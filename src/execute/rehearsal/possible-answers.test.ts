import { expect, test } from 'vitest';
import { scriptedWorkflow } from '../../testing.ts';
import { possibleAnswers } from './possible-answers.ts';

const policy = (...entries: string[]) =>
  `---\nallowed_transitions: [${entries.map((entry) => `{tag: ${entry}}`).join(', ')}]\n---\n`;

test.each([
  [
    'the allowed transitions',
    policy('goto, target: A', 'reset, target: B'),
    '',
    ['<goto>A</goto>', '<reset>B</reset>'],
  ],
  ['a placeholder for a payload', policy('result'), '', ['<result>rehearsed</result>']],
  ['a fixed payload', policy('result, payload: no'), '', ['<result>no</result>']],
  [
    'a payload that fits its schema',
    policy(
      'result, schema: {type: object, required: [ok, n], properties: {n: {minimum: 3, type: integer}, ok: {$ref: "#/$defs/ok"}}, $defs: {ok: {enum: [</result>]}}}',
    ),
    '',
    ['<result>{"ok":"\\u003c/result>","n":3}</result>'],
  ],
  [
    'no payload that cannot fit',
    policy('goto, target: A', 'result, schema: {not: {}}'),
    '',
    ['<goto>A</goto>'],
  ],
  ['a question', policy('ask, next: A'), '', ['<ask next="A">What would you answer here?</ask>']],
  [
    'the variables of a child',
    policy('fork, target: A.md, next: B'),
    '`<fork next="B" n="1">A</fork>`',
    ['<fork next="B" n="1">A.md</fork>'],
  ],
  [
    'a fork with a join beside it',
    policy('fork, target: A', 'goto, target: C', 'join, target: B'),
    '<fork n="1">A</fork>',
    ['<fork n="1">A</fork>\n<join>B</join>', '<goto>C</goto>', '<join>B</join>'],
  ],
  [
    'no next that only the prompt names',
    policy('fork, target: A', 'join, target: B'),
    '<fork next="C" n="1">A</fork>',
    ['<fork n="1">A</fork>\n<join>B</join>', '<join>B</join>'],
  ],
  [
    'the tags of a prompt without policy',
    '',
    '<goto>A</goto>, else <result>b</result>',
    ['<goto>A</goto>', '<result>b</result>'],
  ],
  ['tags outside of code first', '', '`<goto>A</goto>` <goto>B</goto>', ['<goto>B</goto>']],
  ['tags in code otherwise', '', '`<goto>A</goto>`', ['<goto>A</goto>']],
  ['no answer for a prompt without tags', '', 'Do it.', []],
])('gives %s', (_, front, prompt, expected) => {
  const workflow = scriptedWorkflow({ START: { text: front + prompt, answers: [] } });
  expect(possibleAnswers(workflow, workflow.states.get(workflow.entry), prompt)).toEqual(expected);
});
