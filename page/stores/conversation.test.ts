import { expect, test } from 'vitest';
import type { StepShape } from '../../src/serve/shapes/step.ts';
import { itemsOf, withMessages } from './conversation.ts';

type StepMessage = StepShape['messages'][number];

const said = (text: string): StepMessage => ({ kind: 'text', text, omitted: 0 });
const call = (id: string): StepMessage => ({
  kind: 'tool-call',
  id,
  name: 'Bash',
  summary: 'ls',
  inner: false,
  text: '{}',
  omitted: 0,
});
const result = (id: string): StepMessage => ({
  kind: 'tool-result',
  call: id,
  failed: false,
  inner: false,
  text: 'a',
  omitted: 0,
});

test('a tool call has its result, wherever it came', () => {
  const items = itemsOf([said('a'), call('1'), call('2'), said('b'), result('1')]);
  expect(
    items.map((item) => (item.kind === 'tool' ? [item.call.id, item.result?.text] : 'said')),
  ).toEqual(['said', ['1', 'a'], ['2', undefined], 'said']);
});

test('a batch that was sent again adds nothing twice', () => {
  const none = { messages: [], count: 0 };
  const two = withMessages(none, [said('a'), said('b')], 2);
  expect(withMessages(two, [said('a'), said('b')], 2)).toBe(two);
  expect(withMessages(two, [said('b'), said('c')], 3).messages).toEqual(['a', 'b', 'c'].map(said));
});

test('messages that were left out count', () => {
  const late = { messages: [said('y')], count: 50 };
  expect(withMessages(late, [said('z')], 51)).toEqual({
    messages: [said('y'), said('z')],
    count: 51,
  });
});
