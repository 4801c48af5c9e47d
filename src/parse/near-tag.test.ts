import { expect, test } from 'vitest';
import { nearTag } from './near-tag.ts';

test.each([
  ['Done. <Goto>A</Goto>', 'It contains <Goto>, but tags are in lower case: <goto>.'],
  ['<RESULT>x</RESULT>', 'It contains <RESULT>, but tags are in lower case: <result>.'],
  ['<call_workflow return="A">b</call_workflow>', 'in lower case: <call-workflow>.'],
  ['I go to <goto>REVIEW', 'It contains <goto>, but not its end: </goto>.'],
  ['<call return="B">A', 'It contains <call>, but not its end: </call>.'],
  ['&lt;goto&gt;A&lt;/goto&gt;', 'It contains &lt;goto, but a tag begins with <: <goto>.'],
  [`${'x'.repeat(300_000)}<Goto>A</Goto>`, 'It contains <Goto>'],
])('%s', (text, expected) => {
  expect(nearTag(text)).toContain(expected);
});

test.each(['', 'Nothing here.', '<b>bold</b>', '<results>x</results>', 'a < goto', '<gotoo>A'])(
  '%j resembles no tag',
  (text) => {
    expect(nearTag(text)).toBeUndefined();
  },
);
