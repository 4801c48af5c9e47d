import { expect, test } from 'vitest';
import { isDecisionWord, readDecision } from './decision.ts';

test.each([
  ['allow', { decision: 'allow' }],
  [' allow \n', { decision: 'allow' }],
  ['allow-run', { decision: 'allow-run' }],
  ['deny', { decision: 'deny' }],
  ['deny not on  main ', { decision: 'deny', text: 'not on  main' }],
  ['deny\nwhy', { decision: 'deny', text: 'why' }],
  ['allow it', undefined],
  ['allow-run it', undefined],
  ['Allow', undefined],
  ['denyx', undefined],
  ['yes', undefined],
  ['1', { decision: 'allow' }],
  ['2', { decision: 'allow-run' }],
  ['3 not on main', { decision: 'deny', text: 'not on main' }],
  ['1\n2', undefined],
  ['4', undefined],
  ['', undefined],
])('%j', (text, decision) => {
  expect(readDecision(text, { rules: ['Bash'] })).toEqual(decision);
});

test('what can be allowed only once cannot be allowed for the run', () => {
  expect(readDecision('allow-run', {})).toBeUndefined();
});

test('every text answers a question', () => {
  expect(readDecision('allow', { isQuestion: true })).toEqual({
    decision: 'answer',
    text: 'allow',
  });
});

test('a word that is a decision', () => {
  expect(['allow', 'allow-run', 'deny', 'release', undefined].filter(isDecisionWord)).toEqual([
    'allow',
    'allow-run',
    'deny',
  ]);
});
