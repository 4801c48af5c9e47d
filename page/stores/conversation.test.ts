import { expect, test } from 'vitest';
import type { StepShape } from '../../src/look/step-shape.ts';
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

test('a tool call that was denied says so', () => {
  const note: StepMessage = { kind: 'note', denies: '2', text: 'Denied: Bash.', omitted: 0 };
  const items = itemsOf([call('1'), call('2'), note, result('2')]);
  expect(items.flatMap((item) => (item.kind === 'tool' ? [item.isDenied] : []))).toEqual([
    false,
    true,
  ]);
});

test('a batch that was sent again adds nothing', () => {
  const none = { messages: [], omitted: 0, cursor: 0 };
  const two = withMessages(none, [said('a'), said('b')], 2);
  expect(withMessages(two, [said('a'), said('b')], 2)).toBe(two);
  expect(withMessages(two, [said('c')], 3).messages).toEqual(['a', 'b', 'c'].map(said));
});

test('the first messages of a long conversation are left out, and counted', () => {
  const late = { messages: [said('y')], omitted: 50, cursor: 51 };
  const batch = Array.from({ length: 1_000 }, (_, n) => said(String(n)));
  const after = withMessages(late, batch, 1_051);
  expect([after.messages.length, after.omitted, after.messages[0]]).toEqual([1_000, 51, said('0')]);
});

test('the output of a script is one text', () => {
  const wrote = (text: string) => ({ kind: 'stdout', text, omitted: 1 }) as const;
  expect(itemsOf([wrote('a'), wrote('b'), said('c'), wrote('d')])).toEqual([
    { kind: 'stdout', text: 'ab', omitted: 2 },
    said('c'),
    wrote('d'),
  ]);
});
