import { expect, test } from 'vitest';
import { acceptToken, holdToken, refuseToken, session, tokenHeld, tokenIn } from './session.ts';

test.each([
  ['#token=a-b_c', { token: 'a-b_c', to: undefined }],
  ['#token=x&to=/runs/r1/log', { token: 'x', to: '#/runs/r1/log' }],
  ['#token=x.%0A%20\u00fc', { token: 'x', to: undefined }],
  ['#token=', { token: '', to: undefined }],
  ['#/runs/r1', undefined],
  ['#/runs/token=1', undefined],
  ['', undefined],
])('%j', (hash, found) => {
  expect(tokenIn(hash)).toEqual(found);
});

test('a refused token is forgotten, but not a newer one', () => {
  holdToken('old');
  holdToken('new');
  refuseToken('old');
  expect(session.value).toEqual({ kind: 'held', token: 'new' });
  refuseToken('new');
  expect(session.value).toEqual({ kind: 'refused', hasRead: false });
  holdToken('accepted');
  acceptToken();
  refuseToken('accepted');
  expect(session.value).toEqual({ kind: 'refused', hasRead: true });
});

test('waits for a token, or for the end of the wait', async () => {
  holdToken('a');
  refuseToken('a');
  const waits = tokenHeld(new AbortController().signal);
  const leaving = new AbortController();
  const left = tokenHeld(leaving.signal);
  leaving.abort();
  await left;
  expect(session.value.kind).toBe('refused');
  holdToken('b');
  await waits;
});
