// With quadratic time, these tests would not end.
import { expect, test } from 'vitest';
import { workflowOf } from '../../test/lint/workflow-of.ts';
import type { Rule } from './rule.ts';
import { badlyPrintedTags } from './script-tags.ts';
import { badTransitions } from './tags.ts';

test.each<[string, Rule, string, string]>([
  [
    'tags on one long line',
    badlyPrintedTags,
    'START.sh',
    `echo '${'<goto>A</goto>'.repeat(100_000)}'`,
  ],
  ['a body of spaces', badTransitions, 'START.md', `<goto>${' '.repeat(1_000_000)}A</goto>`],
])('%s', (_, rule, file, text) => {
  const workflow = workflowOf({ [file]: text });
  const lint = { workflow, states: [...workflow.states.values()], ways: new Map(), options: {} };
  expect(rule(lint)).toEqual([]);
});
