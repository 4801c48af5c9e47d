import { expect, test } from 'vitest';
import type { AllowedTransition, Position } from '../model/workflow.ts';
import { implicitTag } from './implicit.ts';

type PinnedTag = Omit<AllowedTransition, keyof Position>;
const goto: PinnedTag = { tag: 'goto', body: 'B', attributes: {} };

test.each<[string, boolean, readonly PinnedTag[]]>([
  ['goto', true, [goto]],
  ['two', false, [goto, { ...goto, body: 'C' }]],
  ['none', false, []],
  ['goto without target', false, [{ tag: 'goto', attributes: {} }]],
  ['result', false, [{ tag: 'result', attributes: {} }]],
  ['result with a payload', true, [{ tag: 'result', body: 'done', attributes: {} }]],
  ['result with an empty payload', true, [{ tag: 'result', body: '', attributes: {} }]],
  ['ask', false, [{ tag: 'ask', attributes: { next: 'N' } }]],
  ['ask with a question', true, [{ tag: 'ask', body: 'Go on?', attributes: { next: 'N' } }]],
  ['call without return', false, [{ tag: 'call', body: 'B', attributes: {} }]],
  ['call', true, [{ tag: 'call', body: 'B', attributes: { return: 'C' } }]],
  ['fork without next', false, [{ tag: 'fork', body: 'B', attributes: {} }]],
  ['fork', true, [{ tag: 'fork', body: 'B', attributes: { next: 'C', item: '1' } }]],
])('%s: %s', (_, isImplicit, entries) => {
  const allowed = entries.map((entry) => ({ ...entry, line: 1, column: 1 }));
  const [only] = entries;
  const tag = only && { name: only.tag, attributes: only.attributes, body: only.body };
  expect(implicitTag({ allowed }, [])).toEqual(isImplicit ? tag : undefined);
});

test('without a policy nothing is implicit', () => {
  expect(implicitTag({}, [])).toBeUndefined();
});
