import { expect, test } from 'vitest';
import { textSpot } from './text-spot.ts';

test.each([
  ['<', { kind: 'tag-name', from: 1 }],
  ['Write <go', { kind: 'tag-name', from: 7 }],
  ['<call ', { kind: 'attribute', tag: 'call', used: [], from: 6 }],
  ['<call return="A" in', { kind: 'attribute', tag: 'call', used: ['return'], from: 17 }],
  ['<call return="A', { kind: 'value', tag: 'call', attribute: 'return', from: 14 }],
  ["<call return='A", { kind: 'value', tag: 'call', attribute: 'return', from: 14 }],
  ['<ask next="a>b" ', { kind: 'attribute', tag: 'ask', used: ['next'], from: 16 }],
  ['🙂 <goto>Ä', { kind: 'body', tag: 'goto', from: 9 }],
  ['<call return="A">B', { kind: 'body', tag: 'call', from: 17 }],
  ['{{re', { kind: 'placeholder', from: 2 }],
  ['{{', { kind: 'placeholder', from: 2 }],
  ['<b> {{', { kind: 'placeholder', from: 6 }],
  ['</go', undefined],
  ['<div class="', undefined],
  ['no tag', undefined],
])('in a prompt: %s', (text, expected) => {
  expect(textSpot(text, text.length, false)).toEqual(expected);
});

test.each([
  ['echo "<call return=\\"A', { kind: 'value', tag: 'call', attribute: 'return', from: 21 }],
  ['echo "$RAY', { kind: 'variable', from: 7 }],
  ['echo ${', { kind: 'variable', from: 7 }],
  ['$env:RAYMOND_', { kind: 'variable', from: 5 }],
  ['echo "<goto>', { kind: 'body', tag: 'goto', from: 12 }],
])('in a script: %s', (text, expected) => {
  expect(textSpot(text, text.length, true)).toEqual(expected);
});
