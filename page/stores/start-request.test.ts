import { expect, test } from 'vitest';
import { startRequest } from './start-request.ts';

const EMPTY = {
  ...{ workflow: ' review ', input: '', budget: '', variables: '' },
  ...{ asks: false, rehearse: false, isAgreed: false },
};

test.each([
  [{}, { workflow: 'review' }],
  [{ budget: '2,50' }, { workflow: 'review', budget: 2.5 }],
  [{ budget: '0' }, { workflow: 'review', budget: 0 }],
  [{ input: ' keep ' }, { workflow: 'review', input: ' keep ' }],
  [{ variables: 'a=1\n\nb = x=y\nc' }, { workflow: 'review', set: { a: '1', b: ' x=y', c: '' } }],
  [{ asks: true }, { workflow: 'review', ask_permissions: true }],
  [{ rehearse: true }, { workflow: 'review', rehearse: true }],
  [{ isAgreed: true }, { workflow: 'review', confirm_above: 0 }],
])('%j', (typed, expected) => {
  expect(startRequest({ ...EMPTY, ...typed })).toEqual(expected);
});
